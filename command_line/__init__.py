"""What every command needs: how it starts and ends, tables, plots."""
