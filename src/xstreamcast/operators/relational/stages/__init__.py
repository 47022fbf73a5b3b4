"""Stages: what is sent from partition to partition between them."""
