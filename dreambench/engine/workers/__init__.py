"""Several processes on one run. The driver keeps all that a run promises (journal, cache, single flight, limits, budget);
a worker judges whole cells and asks the driver for every leaf call: it makes an attempt when it is told to, gives back the
raw answer, and goes on once the driver has stored it.

Driver and worker exchange messages over a channel (`channel`); processes of this machine and Ray actors differ in nothing else.
"""
