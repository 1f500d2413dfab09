how did bridges change
