"""What ``dproo --help`` prints: whole, so that it takes no longer than starting Python."""

MENU = """\
Usage: dproo [OPTIONS] COMMAND [ARGS]...

  Release private rows of a sensitive dataset: a table, a row or a value.

  See it work:                  dproo demo
  How many records do I need?   dproo plan --k 9 --epsilon 0.1 --alpha 0.05
  Declare a budget:             dproo ledger init data.csv --budget 8 --delta 1e-6
  Release a table:              dproo synthesize data.csv --epsilon 4 --delta 1e-9
                                  --rows 1000 --out safe.csv
  Describe the columns:         dproo codebook draft data.csv
  Release a value:              dproo sample data.csv --column diagnosis
                                  --alphabet codes.txt --epsilon 1
  Release a whole row:          dproo sample data.csv --codebook codebook.json
                                  --epsilon 1
  Prove a sampler's epsilon:    dproo certify --n 1000 --k 9 --epsilon 0.1
  Test another sampler:         dproo audit --command 'theirs {}' --epsilon 1
                                  --dataset a.csv --neighbour b.csv

  Set defaults in a TOML file with a table for each command, such as
  sampler = "roo" under [sample]. The working folder is never searched for one.

Options:
  --version      Show the version and exit.
  --config TEXT  A TOML file of defaults. [default: $DPROO_CONFIG, else
                 ~/.config/dproo/dproo.toml]
  -h, --help     Show this message and exit.

Commands:
  audit       Test a claimed epsilon by drawing from any sampler.
  certify     Certify a sampler's epsilon from its integer weights.
  check       Check DATA against its possible values before a release.
  codebook    Draft, find, import and preview code books.
  compare     Compare the error of all samplers on one distribution.
  demo        See a plan, a release and a refusal, on invented data.
  figures     Plot the paper's figures and ours, as PDF, PNG, SVG and CSV.
  ledger      Declare, show and verify privacy budgets.
  mcp         Serve private rows to an AI agent.
  plan        Solve for one of n, k, epsilon and alpha, for every sampler.
  rows        Draw more rows from the model of a private table, for free.
  sample      Release a representative value or row of DATA.
  serve       Plan and release in a browser, on this machine only.
  synthesize  Release a private table of DATA, for one epsilon, and rows of it.
"""
