"""Search services, one module each: how it is asked, how its answer is read, what its errors mean."""
