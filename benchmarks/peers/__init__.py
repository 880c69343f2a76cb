"""What else answers the same queries: stores that are asked again, and engines that run as processes of their own."""
