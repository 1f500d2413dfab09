"""The one engine: cells in, journalled judgments out, every leaf call through the gateway."""
