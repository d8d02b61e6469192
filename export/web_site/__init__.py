"""The site that measures a bundle in a browser: written as a folder, served, and its reports collected."""
