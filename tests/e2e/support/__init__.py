"""What the end-to-end tests share: servers, clients and strict readers of what servers say."""
