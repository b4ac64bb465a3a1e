package controller

// plots are the outlines that Planted tells in turn: coding, terminals, support, the web.
var plots = []plot{
	{
		task:  "Some requests to the shop's API fail since the last release. Find out why and fix it. The tests must pass.",
		id:    "req-<0xa0xx>",
		about: []string{"orders", "carts", "refunds", "vouchers"},
		prints: scene{
			"Let me see what the log has on {what}.",
			"bash", `{"command": "grep -n '/v1/{what}' logs/api.log | tail -3"}`,
			"1{n}: info  GET /v1/{what} 200 {n}ms\n1{n}: info  GET /v1/{what} 200 {n}ms\n2{n}: error POST /v1/{what} 500 {n}ms request={id}",
		},
		needs:  scene{"One failing request is enough to work with. I replay it against the local server.", "bash", `{"command": "python tools/replay.py --request {id} --server local"}`, ""},
		others: coding,
	},
	{
		task:  "Rounding went wrong somewhere in the last month. Find the commit that did it and repair it.",
		id:    "<a0xxx0x>",
		about: []string{"pricing", "billing", "tax", "reports"},
		prints: scene{
			"Who touched {what} lately?",
			"bash", `{"command": "git log --oneline -2 -- src/{what}"}`,
			"{id} {what}: round once, at the end",
		},
		needs:  scene{"That message fits what we see. What did it change?", "bash", `{"command": "git show --stat {id}"}`, ""},
		others: coding,
	},
	{
		task:  "Train the forecasting models for all regions on the cluster and report how they did.",
		id:    "<00000000>",
		about: []string{"north", "south", "coast", "islands"},
		prints: scene{
			"Next the model for {what}.",
			"bash", `{"command": "sbatch --time {n} jobs/train.sh {what}"}`,
			"sbatch: partition batch, {n} nodes idle\nSubmitted batch job {id}",
		},
		needs:  scene{"It should be done by now. How much memory did it take?", "bash", `{"command": "sacct -j {id} --format=State,Elapsed,MaxRSS"}`, ""},
		others: coding,
	},
	{
		task:  "The report generator leaves out the last row. Fix it, and show me a report that is right.",
		id:    "/tmp/report-<a0xxx0>/out.csv",
		about: []string{"sales", "stock", "returns", "staff"},
		prints: scene{
			"Generate the report on {what} to see what comes out.",
			"bash", `{"command": "make report KIND={what}"}`,
			"reading {n} rows\nwritten to {id}",
		},
		needs:  scene{"Now look at how that file ends.", "bash", `{"command": "tail -n 2 {id}"}`, ""},
		others: coding,
	},
	{
		task:  "Move the callers of the old rate tables to the new ones.",
		id:    "rate_table_<a0xx>",
		about: []string{"eu", "us", "asia", "africa"},
		prints: scene{
			"Which table does {what} use?",
			"bash", `{"command": "grep -n 'def ' src/rates/{what}.py | tail -1"}`,
			"{n}:def {id}(day, amount):",
		},
		needs:  scene{"This one is the oldest of them. Who calls it?", "bash", `{"command": "grep -rn '{id}(' ."}`, ""},
		others: coding,
	},
	{
		task:  "Set up the web hooks on the staging server, and make sure that none is left over from testing.",
		id:    "hook_<0axx0x>",
		about: []string{"paid", "shipped", "cancelled", "returned"},
		prints: scene{
			"Register a hook for {what}.",
			"http", `{"method": "POST", "path": "/hooks", "body": {"topic": "{what}"}}`,
			`{"status": 201, "topic": "{what}", "active": true, "id": "{id}"}`,
		},
		needs:  scene{"That one was only for testing, so it goes.", "http", `{"method": "DELETE", "path": "/hooks/{id}"}`, ""},
		others: coding,
	},
	{
		task:  "Find out why the images of the services grew, and make them small again.",
		id:    "<0axx0xxaxx0x>",
		about: []string{"worker", "gateway", "mailer", "indexer"},
		prints: scene{
			"Build the image of the {what}.",
			"bash", `{"command": "docker build -t shop/{what} services/{what} | tail -2"}`,
			"Step 9/9 : CMD run\nSuccessfully built {id}",
		},
		needs:  scene{"Which layers does it have?", "bash", `{"command": "docker history {id}"}`, ""},
		others: coding,
	},
	{
		task:  "Hello, I would like to send back something that arrived broken.",
		id:    "#W<0000000>",
		about: []string{"lamp", "kettle", "desk", "speaker"},
		prints: scene{
			"",
			"find_orders", `{"customer": "anna_lind", "item": "{what}"}`,
			`{"item": "{what}", "status": "delivered", "order_id": "{id}"}`,
		},
		needs:  scene{"The customer confirms this order.", "return_order", `{"order_id": "{id}", "reason": "damaged"}`, ""},
		others: support,
	},
	{
		task:  "I need to change some of the flights that I have booked with you.",
		id:    "RES<0000>XK",
		about: []string{"Lisbon", "Oslo", "Vienna", "Dublin"},
		prints: scene{
			"",
			"get_reservation", `{"customer": "m_costa", "destination": "{what}"}`,
			`{"destination": "{what}", "cabin": "economy", "bags": 1, "reservation": "{id}"}`,
		},
		needs:  scene{"They agreed to the fee for this one.", "change_flight", `{"reservation": "{id}", "days_later": 2}`, ""},
		others: support,
	},
	{
		task:  "Put the cheapest item of each list into the cart.",
		id:    "<00000>",
		about: []string{"headphones", "keyboards", "cables", "chargers"},
		prints: scene{
			"The list of {what} comes next.",
			"goto", `{"url": "http://shop.local/{what}?sort=price"}`,
			"{what}, {n} results\n[{id}] button 'Add to cart'",
		},
		needs:  scene{"Of all I saw this is the cheapest.", "click", `{"element": "{id}"}`, ""},
		others: support,
	},
}

var coding = []scene{
	{"Where is everything?", "bash", `{"command": "ls"}`, "README.md\nlogs\nsrc\ntests\ntools"},
	{"Look at the code for {what}.", "view", `{"path": "src/{what}/main.py"}`, "import config\n\ndef run(args):\n    return config.load(args).total()"},
	{"And its helpers.", "view", `{"path": "src/{what}/helpers.py"}`, "def total(rows):\n    return sum(row.amount for row in rows)"},
	{"Do the tests pass?", "bash", `{"command": "pytest -q tests/test_{what}.py"}`, "..F.\nFAILED tests/test_{what}.py::test_total\n1 failed, 3 passed in 0.{n}s"},
	{"The sum is taken too early.", "edit", `{"path": "src/{what}/helpers.py", "old": "sum(row.amount for row in rows)", "new": "sum(rows, key=amount)"}`, "edited src/{what}/helpers.py"},
	{"Again, all of them.", "bash", `{"command": "pytest -q"}`, "{n} passed in 4.{n}s"},
	{"Which settings apply?", "bash", `{"command": "cat config/{what}.yaml"}`, "retries: 3\ntimeout: {n}\nlevel: info"},
	{"Is anything of {what} still running?", "bash", `{"command": "ps aux | grep -c {what}"}`, "1"},
}

var support = []scene{
	{"", "get_customer", `{"name": "Anna Lind"}`, `{"name": "Anna Lind", "city": "Porto", "since": "spring"}`},
	{"", "get_policy", `{"about": "{what}"}`, "Within thirty days, unless it was a gift."},
	{"Let me see what else is there.", "search", `{"query": "{what}"}`, "{n} results"},
	{"", "get_payment_methods", `{"kind": "all"}`, `["gift card", "bank transfer"]`},
	{"", "note", `{"text": "asked about {what}"}`, "noted"},
	{"Would you like that for the {what} too?", "ask", `{"question": "the {what} too?"}`, "Yes, please."},
	{"", "get_prices", `{"of": "{what}"}`, `{"{what}": {n}, "delivery": 5}`},
}
