package validation

// runner says how one test runner's output is recognised and read.
type runner struct {
	name string

	// A line that may be of this runner starts, after blanks, with one of opens; or ends with one of ends;
	// or has one of counts after a leading number. They only decide whether the output is looked at.
	opens, ends, counts []string

	parse func(lines []string, r *run)

	// How the runner is called: the words that start it, flags that choose among tests, flags that take the
	// next word, flags that stop at a failure. Without words a closing line is not the whole command's.
	words, narrowing, valued, stopping []string
}

// runners holds what differs from runner to runner, in order of their results in a report.
var runners = []runner{
	{
		name:  "pytest",
		opens: []string{"=====", "FAILED ", "ERROR ", "PASSED", "[gw", "_____"}, ends: []string{"%]", " PASSED", " FAILED", " ERROR"},
		counts:    []string{" passed", " failed", " error", " skipped"},
		parse:     parsePytest,
		words:     []string{"pytest", "py.test"},
		narrowing: []string{"-k", "-m", "--lf", "--last-failed", "--deselect", "--ignore", "--ignore-glob", "--sw", "--stepwise", "--nf"},
		valued:    []string{"-n", "-p", "-c", "-o", "-W", "-r", "--maxfail", "--timeout", "--rootdir", "--tb", "--durations", "--color", "--junitxml"},
		stopping:  []string{"-x", "--exitfirst", "--maxfail", "-sx", "-xs", "-xv", "-vx", "-xvs", "-svx", "-vsx", "-xsv", "-vxs", "-xq", "-qx"},
	},
	{
		name:  "unittest",
		opens: []string{"Ran ", "FAIL: ", "ERROR: "}, ends: []string{" ... ok", " ... FAIL", " ... ERROR"},
		parse:     parseUnittest,
		words:     []string{"unittest", "manage.py test", "runtests.py"},
		narrowing: []string{"-k", "--tag", "--exclude-tag", "discover", "-s", "-p"},
		valued:    []string{"-t", "--settings", "--parallel", "-v", "--verbosity"},
		stopping:  []string{"-f", "--failfast"},
	},
	{
		name:      "go test",
		opens:     []string{"--- PASS", "--- FAIL", "--- SKIP", "ok  ", "ok\t", "FAIL\t", "FAIL ", `{"Time":`, `{"Action":`, `{"ImportPath":`},
		parse:     parseGo,
		words:     []string{"go test"},
		narrowing: []string{"-run", "--run", "-skip", "--skip"},
		stopping:  []string{"-failfast", "--failfast"},
	},
	{
		name:  "cargo test",
		opens: []string{"test ", "running "},
		parse: parseCargo,
	},
	{
		name:  "jest",
		opens: []string{"PASS ", "FAIL ", "Tests: ", "Test Suites: ", "● "},
		parse: parseJest,
		words: []string{"jest"},
	},
	{
		name:  "vitest",
		opens: []string{"✓ ", "× ", "❯ ", "FAIL ", "Test Files ", "RUN  v"},
		parse: parseVitest,
		words: []string{"vitest"},
	},
	{
		name:      "mocha",
		counts:    []string{" passing ("},
		parse:     parseMocha,
		words:     []string{"mocha"},
		narrowing: []string{"-g", "--grep", "-f", "--fgrep"},
		valued:    []string{"-R", "--reporter", "-r", "--require", "-t", "--timeout"},
		stopping:  []string{"-b", "--bail"},
	},
	{
		name:  "bun test",
		opens: []string{"(pass) ", "(fail) ", "bun test v"}, ends: []string{" files.", " file.", "ms]"},
		parse:     parseBun,
		words:     []string{"bun test"},
		narrowing: []string{"-t", "--test-name-pattern"},
		stopping:  []string{"--bail"},
	},
	{
		name:      "node:test",
		opens:     []string{"ℹ tests ", "ℹ pass ", "✖ failing tests:"},
		parse:     parseNode,
		words:     []string{"node --test"},
		narrowing: []string{"--test-name-pattern", "--test-only"},
	},
	{
		name:  "tap",
		opens: []string{"TAP version ", "1..", "Result: "},
		parse: parseTAP,
		words: []string{"prove"},
	},
	{
		name:      "maven",
		opens:     []string{"Tests run: ", "[INFO] Tests run: ", "[ERROR] Tests run: ", "[WARNING] Tests run: "},
		ends:      []string{"<<< FAILURE!", "<<< ERROR!"},
		parse:     parseMaven,
		words:     []string{"mvn", "mvnw"},
		narrowing: []string{"-Dtest", "-Dit.test", "-Dgroups", "-DexcludedGroups"},
	},
	{
		name:      "gradle",
		opens:     []string{"> Task :", "BUILD "},
		counts:    []string{" tests completed", " test completed"},
		parse:     parseGradle,
		words:     []string{"gradle", "gradlew"},
		narrowing: []string{"--tests"},
	},
	{
		name:  "junit",
		opens: []string{"[  "},
		parse: parseJUnit,
	},
	{
		name:      "rspec",
		counts:    []string{" example"},
		parse:     parseRSpec,
		words:     []string{"rspec"},
		narrowing: []string{"-e", "--example", "-t", "--tag", "--only-failures", "-E"},
		valued:    []string{"-f", "--format", "-r", "--require", "-I"},
		stopping:  []string{"--fail-fast"},
	},
	{
		name:      "ctest",
		counts:    []string{"/", "% tests passed"},
		parse:     parseCTest,
		words:     []string{"ctest"},
		narrowing: []string{"-R", "-E", "-L", "-LE", "-I", "--rerun-failed"},
	},
	{
		name:      "sympy",
		opens:     []string{"====="},
		parse:     parseSymPy,
		words:     []string{"test"},
		narrowing: []string{"-k", "-m", "--slow", "--rerun"},
	},
	{
		name:      "phpunit",
		opens:     []string{"OK (", "Tests: "},
		parse:     parsePHPUnit,
		words:     []string{"phpunit"},
		narrowing: []string{"--filter", "--group", "--exclude-group", "--testsuite"},
		stopping:  []string{"--stop-on-failure", "--stop-on-error", "--stop-on-defect"},
	},
	{
		name:      "dotnet test",
		opens:     []string{"Passed!", "Failed!"},
		parse:     parseDotnet,
		words:     []string{"dotnet test"},
		narrowing: []string{"--filter"},
	},
	{
		name:  "swift test",
		opens: []string{"Test Case '", "Executed ", "✔ Test ", "✘ Test "},
		parse: parseSwift,
		words: []string{"swift test"},
	},
	{
		name:      "playwright",
		opens:     []string{"Running "},
		parse:     parsePlaywright,
		words:     []string{"playwright test"},
		narrowing: []string{"-g", "--grep", "--grep-invert", "--last-failed"},
		stopping:  []string{"-x", "--max-failures"},
	},
}
