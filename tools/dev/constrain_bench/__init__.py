"""What constraints cost, here and in two other engines: `./dev bench constrain`."""
