-- The ledger of a team: one table of events, which nobody but the role that runs this can write,
-- and the functions through which owners and spenders write it.
--
-- Whoever calls a function chooses the arguments, the search path and the session's settings. So
-- each one that a role may call pins the settings that its text depends on, names everything with
-- its schema, checks every argument, and holds the lock on dproo.head, by updating it, before it
-- looks at an event: an older snapshot then fails instead of seeing old sums.
--
-- Numbers between at signs are the terms that Python checks by, too (rules.py), and dproo.shape
-- is filled from there. A refusal has a code, and a detail from which Python makes the sentence.

CREATE SCHEMA dproo;

CREATE TABLE dproo.event (
    seq bigint PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    dataset text COLLATE "C" NOT NULL,
    entry bigint NOT NULL,
    nano bigint NOT NULL,
    atto bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL UNIQUE,  -- so that a call that is sent twice counts once
    body text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL
);
CREATE INDEX event_charges ON dproo.event (dataset, at) INCLUDE (kind, nano, atto, role)
    WHERE kind IN ('reserved', 'restored');
CREATE UNIQUE INDEX event_declares_once ON dproo.event (dataset) WHERE kind = 'declared';
CREATE UNIQUE INDEX event_is_answered_once ON dproo.event (entry, kind) WHERE entry > 0;
CREATE INDEX event_requests ON dproo.event (role, dataset) WHERE kind = 'requested';

-- One row: the format, the number of the last event, and the lock of every writer.
CREATE TABLE dproo.head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL, seq bigint NOT NULL
);
INSERT INTO dproo.head (format, seq) VALUES (@format@, 0);

-- The types that parts of a request, a receipt or limits must have.
CREATE TABLE dproo.shape (part text, name text, types text[] NOT NULL, PRIMARY KEY (part, name));

CREATE FUNCTION dproo.refuse_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or deleted' USING ERRCODE = 'DP000';
END $$;
CREATE TRIGGER event_is_final BEFORE UPDATE OR DELETE ON dproo.event
    FOR EACH ROW EXECUTE FUNCTION dproo.refuse_change();
CREATE TRIGGER event_stays BEFORE TRUNCATE ON dproo.event
    FOR EACH STATEMENT EXECUTE FUNCTION dproo.refuse_change();

-- At the commit, whatever the session has set after the call: the charge waits for the disk.
CREATE FUNCTION dproo.make_durable() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') = 'off';
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER event_is_durable AFTER INSERT ON dproo.event
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dproo.make_durable();

CREATE FUNCTION dproo.refuse(code text, told text, detail text DEFAULT '') RETURNS numeric
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', told USING ERRCODE = code, DETAIL = detail;
END $$;

-- An amount as the exact fraction that its text is, times so many parts; rounded up or down.
CREATE FUNCTION dproo.amount(name text, value text, parts numeric, is_up boolean) RETURNS numeric
LANGUAGE sql AS $$
    SELECT CASE
        WHEN value IS NULL THEN NULL
        WHEN length(value) > @fraction_max@ OR value !~ '^[1-9][0-9]*(/[1-9][0-9]*)?$'
            THEN dproo.refuse('DP000', name || ' must be a fraction')
        WHEN strpos(value, '/') = 0 THEN value::numeric * parts
        WHEN gcd(split_part(value, '/', 1)::numeric, split_part(value, '/', 2)::numeric) = 1
            AND value NOT LIKE '%/1'
            THEN div(split_part(value, '/', 1)::numeric * parts
                + CASE WHEN is_up THEN split_part(value, '/', 2)::numeric - 1 ELSE 0 END,
                split_part(value, '/', 2)::numeric)
        ELSE dproo.refuse('DP000', name || ' must be in lowest terms')
    END
$$;

-- A JSON text without what is in quotes.
CREATE FUNCTION dproo.bare(value text) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT regexp_replace(value, '"([^"\\]|\\.)*"', '', 'g') $$;

-- A JSON text in which no string holds a zero byte, which no string of PostgreSQL can. Different
-- strings stay different: U+E000 becomes two characters, and a zero byte two others. A backslash is
-- first written in one way, so that none before them makes these six characters something else.
CREATE FUNCTION dproo.zeroless(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT replace(replace(replace(replace(value, '\\', '\u005c'), '\ue000', '\ue000\ue001'),
        '\uE000', '\uE000\ue001'), '\u0000', '\ue000\ue002')
$$;

-- Raise unless a text is an object that Python can read back, with parts of the right types. It is
-- kept as it is; nothing here writes JSON. In jsonb every name is there once, so fewer colons tell
-- of duplicates.
CREATE FUNCTION dproo.check_object(part text, value text, longest integer) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
    bare text := dproo.bare(value);
    names CONSTANT text := regexp_replace(bare, '[^:]+', '', 'g');
    found json;
BEGIN
    PERFORM dproo.refuse('DP000', part || ' must be printable ASCII, and not too long')
    WHERE (octet_length(value) <= longest AND value ~ ('^[ -~]+$' COLLATE "C")) IS NOT TRUE;
    PERFORM number[1]::float8  -- raises where Python would read no number
    FROM regexp_matches(bare, '-?[0-9]+(?:[.][0-9]+)?(?:[eE][-+]?[0-9]+)?', 'g') AS number;
    bare := regexp_replace(bare, '[^][{}]+', '', 'g');
    FOR depth IN 1 .. @depth_max@ LOOP
        bare := regexp_replace(bare, '\[\]|\{\}', '', 'g');
    END LOOP;
    PERFORM dproo.refuse('DP000', part || ' must not be nested so deeply') WHERE bare <> '';
    found := dproo.zeroless(value)::json;
    IF names <> regexp_replace(dproo.bare(found::jsonb::text), '[^:]+', '', 'g')
        OR json_typeof(found) <> 'object' OR EXISTS (
        SELECT FROM json_each(found) AS given
        LEFT JOIN dproo.shape AS known
            ON known.part = check_object.part AND known.name = given.key COLLATE "C"
        WHERE CASE
            WHEN known.name IS NULL THEN check_object.part = 'limits'
            WHEN json_typeof(given.value) <> 'array' THEN json_typeof(given.value) <> ALL (types)
            ELSE 'texts' <> ALL (known.types) OR EXISTS (
                SELECT FROM json_array_elements(given.value) AS item
                WHERE json_typeof(item) <> 'string')
        END
    ) THEN
        PERFORM dproo.refuse('DP000', part || ' must be an object with parts of the right types');
    END IF;
    RETURN found;
END $$;

-- Wait for the lock that every writer holds until the end of its transaction. Whoever hangs in one
-- gives it back after a minute.
CREATE FUNCTION dproo.lock() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '60s', true);
    UPDATE dproo.head AS known SET seq = known.seq WHERE known.one;
END $$;

-- The time as events keep it: UTC, to the second, by the server's clock, and never going back.
CREATE FUNCTION dproo.now() RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN greatest(
        to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')
            COLLATE "C",
        (SELECT known.at FROM dproo.event AS known WHERE known.at <> ''
            ORDER BY known.seq DESC LIMIT 1));
END $$;

-- Write the next event. The text that is hashed has one field in each line; only the body comes
-- from outside unchecked, and it is printable ASCII.
CREATE FUNCTION dproo.append(
    kind text, dataset text, entry bigint, nano numeric, atto numeric, at text, id text, body text
) RETURNS dproo.event LANGUAGE plpgsql AS $$
DECLARE
    made dproo.event;
    previous text;
BEGIN
    PERFORM dproo.refuse('DP000', 'id must be 32 hexadecimal digits, and the role a name')
    WHERE (append.id ~ '^[0-9a-f]{32}$' AND session_user::text !~ '[[:cntrl:]]') IS NOT TRUE;
    UPDATE dproo.head AS known SET seq = known.seq + 1 WHERE known.one
    RETURNING known.seq INTO STRICT made.seq;
    SELECT known.hash INTO previous FROM dproo.event AS known WHERE known.seq = made.seq - 1;
    made := (made.seq, append.kind, append.dataset, append.entry, append.nano, append.atto,
        append.at, session_user, append.id, append.body, '');
    made.hash := encode(sha256(convert_to(concat_ws(chr(10),
        coalesce(previous, repeat('0', 64)), made.seq, made.kind, made.dataset, made.entry,
        made.nano, made.atto, made.at, made.role, made.id, made.body), 'UTF8')), 'hex');
    INSERT INTO dproo.event VALUES (made.*);
    RETURN made;
END $$;

-- For owners: give a dataset its budget.
CREATE FUNCTION dproo.declare_budget(
    dataset text, budget text, delta text, neighbours text, records_per_person numeric, unit text,
    limits text, id text
) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    most CONSTANT numeric := dproo.amount('budget', declare_budget.budget, @nano@, false);
    most_delta CONSTANT numeric
        := coalesce(dproo.amount('delta', declare_budget.delta, @atto@, false), 0);
    rules CONSTANT json := CASE WHEN declare_budget.limits IS NOT NULL
        THEN dproo.check_object('limits', declare_budget.limits, @request_max@) END;
    rule text;
BEGIN
    PERFORM dproo.refuse('DP000', told) FROM (SELECT CASE
        WHEN (length(declare_budget.dataset) BETWEEN 1 AND @name_max@
                AND declare_budget.dataset !~ '[[:cntrl:]]|^\s|\s$'
                AND declare_budget.dataset IS NFC NORMALIZED) IS NOT TRUE
            THEN 'dataset must be a name'
        WHEN (most >= 1 AND dproo.amount('budget', declare_budget.budget, @nano@, true)
                <= @budget_max@) IS NOT TRUE
            THEN 'budget must be within bounds'
        WHEN declare_budget.delta IS NOT NULL AND NOT most_delta BETWEEN 1 AND @atto@ - 1
            THEN 'delta must be at least 1e-18 and below 1'
        WHEN (declare_budget.neighbours IN ('replace', 'add-remove')) IS NOT TRUE
            THEN 'neighbours must be replace or add-remove'
        WHEN (declare_budget.records_per_person BETWEEN 1 AND @records_max@
                AND scale(declare_budget.records_per_person) = 0) IS NOT TRUE
            THEN 'records_per_person must be a whole number within bounds'
        WHEN (declare_budget.unit IN ('record', 'person')) IS NOT TRUE THEN 'unit must be known'
        WHEN (rules -> 'columns' IS NULL OR json_array_length(rules -> 'columns') > 0
                AND NOT '' IN (SELECT json_array_elements_text(rules -> 'columns'))) IS NOT TRUE
            THEN 'columns must be names'
        WHEN rules ->> 'codebook' !~ '^[0-9a-f]{64}$' THEN 'codebook must be a SHA-256'
        WHEN rules ->> 'until' !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
                OR to_char((rules ->> 'until')::date, 'YYYY-MM-DD') <> rules ->> 'until'
            THEN 'until must be a day'
    END) AS fault (told) WHERE told IS NOT NULL;
    FOREACH rule IN ARRAY ARRAY['per_release', 'per_day', 'per_spender', 'approval_above'] LOOP
        PERFORM dproo.refuse('DP000', rule || ' must be between 1e-9 and ' || @budget_max@ / @nano@)
        WHERE NOT (dproo.amount(rule, rules ->> rule, @nano@, false) >= 1
            AND dproo.amount(rule, rules ->> rule, @nano@, true) <= @budget_max@);
    END LOOP;
    PERFORM dproo.lock();
    PERFORM dproo.refuse('DP005', 'dataset must not have a budget') FROM dproo.event AS e WHERE
    e.kind = 'declared' AND lower(e.dataset COLLATE "default") = lower(declare_budget.dataset);
    RETURN dproo.append('declared', declare_budget.dataset, 0, most, most_delta, dproo.now(),
        declare_budget.id, '{"budget":"' || declare_budget.budget || '"'
        || coalesce(',"delta":"' || declare_budget.delta || '"', '')
        || coalesce(',"limits":' || declare_budget.limits, '')
        || ',"neighbours":"' || declare_budget.neighbours
        || '","records_per_person":' || declare_budget.records_per_person
        || ',"unit":"' || declare_budget.unit || '"}');
END $$;

-- Raise unless a charge keeps some rules but the need for an approval. The sums include it.
CREATE FUNCTION dproo.check_rules(
    rules json, request json, at text, charge numeric, today numeric, theirs numeric
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rule text;
    amount numeric;
    most numeric;
BEGIN
    PERFORM dproo.refuse('DP003', 'the rule until', 'until ' || rules)
    WHERE left(check_rules.at, 10) >= (rules ->> 'until') COLLATE "C";
    FOR rule, amount IN VALUES ('per_release', charge), ('per_day', today), ('per_spender', theirs)
    LOOP
        most := dproo.amount(rule, rules ->> rule, @nano@, false);
        PERFORM dproo.refuse('DP003', 'the rule ' || rule, rule || ' ' || amount || ' ' || most)
        WHERE amount > most;
    END LOOP;
    IF rules -> 'columns' IS NOT NULL THEN
        PERFORM dproo.refuse('DP003', 'the rule columns', 'columns ' || rules)
        FROM (
            SELECT count(*) AS asked, count(*) FILTER (WHERE name NOT IN (
                SELECT json_array_elements_text(rules -> 'columns'))) AS other
            FROM (
                SELECT json_array_elements_text(coalesce(request -> 'columns', '[]'::json))
                UNION ALL
                SELECT json_array_elements_text(CASE json_typeof(request -> 'by')
                    WHEN 'array' THEN request -> 'by'
                    WHEN 'string' THEN json_build_array(request -> 'by') ELSE '[]'::json END)
            ) AS asked (name)
        ) AS found WHERE asked = 0 OR other > 0;
    END IF;
    PERFORM dproo.refuse('DP003', 'the rule codebook', 'codebook ' || rules)
    WHERE rules ->> 'codebook' IS NOT NULL AND NOT coalesce(rules ->> 'codebook'
        IN (request ->> 'codebook_sha256', request ->> 'alphabet_sha256'), false);
END $$;

-- For spenders: charge a release, if the budget has as much left and every rule is kept. Where a
-- second person must approve it and has not, return the request for that instead.
CREATE FUNCTION dproo.reserve(
    dataset text, epsilon text, delta text, request text, limits text, id text
) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    charge CONSTANT numeric := dproo.amount('epsilon', reserve.epsilon, @nano@, true);
    small CONSTANT numeric := coalesce(dproo.amount('delta', reserve.delta, @atto@, true), 0);
    asked CONSTANT json := dproo.check_object('request', reserve.request, @request_max@);
    besides CONSTANT json := CASE WHEN reserve.limits IS NOT NULL
        THEN dproo.check_object('limits', reserve.limits, @request_max@) END;
    asked_text CONSTANT text := '{' || coalesce('"delta":"' || reserve.delta || '",', '')
        || '"epsilon":"' || reserve.epsilon || '","request":' || reserve.request || '}';
    declared dproo.event;
    rules json;
    sums record;
    most numeric;
    time text;
    approval dproo.event;
BEGIN
    PERFORM dproo.refuse('DP000', 'epsilon must be between 1e-30 and 1000')
    WHERE (charge BETWEEN 1 AND @charge_max@
        AND dproo.amount('epsilon', reserve.epsilon, @epsilon_parts@, false) >= 1) IS NOT TRUE;
    PERFORM dproo.refuse('DP000', 'delta must be below 1')
    WHERE dproo.amount('delta', reserve.delta, 1, false) <> 0;
    PERFORM dproo.lock();
    time := dproo.now();
    SELECT * INTO declared FROM dproo.event AS known
    WHERE known.kind = 'declared' AND known.dataset = reserve.dataset;
    PERFORM dproo.refuse('DP004', 'dataset must have a declared budget') WHERE declared.seq IS NULL;
    SELECT coalesce(sum(known.nano), 0) AS nano, coalesce(sum(known.atto), 0) AS atto,
        coalesce(sum(known.nano) FILTER (WHERE left(known.at, 10) = left(time, 10)), 0) AS today,
        coalesce(sum(known.nano) FILTER (
            WHERE known.role = session_user OR known.kind = 'restored'), 0) AS theirs
    INTO sums FROM dproo.event AS known
    WHERE known.dataset = reserve.dataset AND known.kind IN ('reserved', 'restored');
    PERFORM dproo.refuse('DP008', 'delta must be 0 as declared', small::text)
    WHERE small > 0 AND declared.atto = 0;
    PERFORM dproo.refuse('DP002', 'delta must be at most what is left',
        small || ' ' || greatest(0, declared.atto - sums.atto))
    WHERE small > 0 AND sums.atto + small > declared.atto;
    PERFORM dproo.refuse('DP001', 'epsilon must be at most what is left',
        charge || ' ' || greatest(0, declared.nano - sums.nano))
    WHERE sums.nano + charge > declared.nano;
    rules := dproo.zeroless(declared.body)::json -> 'limits';
    PERFORM dproo.check_rules(each.limits, asked, time, charge, sums.today + charge,
        sums.theirs + charge) FROM (VALUES (rules), (besides)) AS each (limits)
    WHERE each.limits IS NOT NULL;
    most := dproo.amount('approval_above', rules ->> 'approval_above', @nano@, false);
    IF (charge > most) IS NOT TRUE THEN
        RETURN dproo.append(
            'reserved', reserve.dataset, 0, charge, small, time, reserve.id, asked_text);
    END IF;
    -- The newest request of the very same release that is not used up yet.
    SELECT known.* INTO approval FROM dproo.event AS known
    WHERE known.kind = 'requested' AND known.role = session_user
        AND known.dataset = reserve.dataset AND known.body = asked_text
        AND NOT EXISTS (SELECT FROM dproo.event AS used
            WHERE used.kind = 'reserved' AND used.entry = known.seq)
    ORDER BY known.seq DESC LIMIT 1;
    IF NOT FOUND THEN
        PERFORM dproo.refuse('DP003', 'too many requests wait', 'open')
        WHERE @open_max@ <= (SELECT count(*) FROM dproo.event AS known
            WHERE known.kind = 'requested' AND known.role = session_user AND NOT EXISTS (
                SELECT FROM dproo.event AS answer WHERE answer.entry = known.seq));
        RETURN dproo.append(
            'requested', reserve.dataset, 0, charge, small, time, reserve.id, asked_text);
    END IF;
    PERFORM dproo.refuse('DP003', 'the request was denied', 'denied ' || approval.seq)
    FROM dproo.event AS known WHERE known.entry = approval.seq AND known.kind = 'denied';
    PERFORM FROM dproo.event AS known WHERE known.entry = approval.seq AND known.kind = 'approved';
    IF FOUND THEN
        RETURN dproo.append(
            'reserved', reserve.dataset, approval.seq, charge, small, time, reserve.id, asked_text);
    END IF;
    RETURN approval;
END $$;

-- For spenders: keep a release of one's own, before any of it is shown. It has no time, which would
-- show how long the data took.
CREATE FUNCTION dproo.record(entry bigint, receipt text, id text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    found CONSTANT json := dproo.check_object('receipt', record.receipt, @receipt_max@);
    charged dproo.event;
BEGIN
    PERFORM dproo.lock();
    SELECT * INTO charged FROM dproo.event AS known
    WHERE known.seq = record.entry AND known.kind = 'reserved';
    PERFORM dproo.refuse('DP006', 'entry must be a charge of your own')
    WHERE (charged.role = session_user) IS NOT TRUE;
    PERFORM dproo.refuse('DP007', 'entry must not be recorded yet') FROM dproo.event AS known
    WHERE known.entry = record.entry;
    RETURN dproo.append('recorded', charged.dataset, charged.seq, 0, 0, '', record.id,
        '{"receipt":' || record.receipt || '}');
END $$;

-- For owners: let a release be charged once, or never.
CREATE FUNCTION dproo.decide(entry bigint, decision text, id text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    asked dproo.event;
BEGIN
    PERFORM dproo.refuse('DP000', 'decision must be approved or denied')
    WHERE (decide.decision IN ('approved', 'denied')) IS NOT TRUE;
    PERFORM dproo.lock();
    SELECT * INTO asked FROM dproo.event AS known
    WHERE known.seq = decide.entry AND known.kind = 'requested' AND NOT EXISTS (
        SELECT FROM dproo.event AS answer WHERE answer.entry = known.seq);
    PERFORM dproo.refuse('DP009', 'the request must be open') WHERE asked.seq IS NULL;
    IF asked.role = session_user THEN
        RAISE EXCEPTION 'whoever asks does not decide' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN dproo.append(
        decide.decision, asked.dataset, asked.seq, 0, 0, dproo.now(), decide.id, '{}');
END $$;

-- For owners: charge what was lost with an older copy, whether or not it fits.
CREATE FUNCTION dproo.restore(dataset text, nano bigint, atto bigint, head text, id text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
    PERFORM dproo.refuse('DP000', 'what was lost must be charges, and its head a hash')
    WHERE (restore.nano >= 0 AND restore.atto BETWEEN 0 AND @atto@
        AND restore.head ~ '^[0-9a-f]{64}$') IS NOT TRUE;
    PERFORM dproo.lock();
    PERFORM dproo.refuse('DP004', 'dataset must have a declared budget') WHERE NOT EXISTS (
        SELECT FROM dproo.event AS known
        WHERE known.kind = 'declared' AND known.dataset = restore.dataset);
    RETURN dproo.append('restored', restore.dataset, 0, restore.nano, restore.atto, dproo.now(),
        restore.id, '{"head":"' || restore.head || '"}');
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dproo FROM PUBLIC;
GRANT USAGE ON SCHEMA dproo TO dproo_owner, dproo_spender, dproo_auditor;
GRANT SELECT ON dproo.event, dproo.head TO dproo_owner, dproo_spender, dproo_auditor;
GRANT EXECUTE ON FUNCTION dproo.now TO dproo_owner, dproo_spender, dproo_auditor;
GRANT EXECUTE ON FUNCTION dproo.lock TO dproo_owner, dproo_spender;
GRANT EXECUTE ON FUNCTION dproo.declare_budget, dproo.restore, dproo.decide TO dproo_owner;
GRANT EXECUTE ON FUNCTION dproo.reserve, dproo.record TO dproo_spender;
