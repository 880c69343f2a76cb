"""Tests of the server, over real HTTP on a port of this machine."""
