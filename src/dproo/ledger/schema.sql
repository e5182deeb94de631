-- The ledger of a team: its tables, which nobody but the role that runs this can write, and the
-- functions through which owners and spenders write them.
--
-- Whoever calls a function chooses the arguments, the search path and the session's settings. So
-- each one that a role may call pins the settings that its text depends on, and that of the
-- functions it calls in turn; names everything with its schema; checks every argument; and takes
-- the lock on dproo.head, by updating it, before it looks at anything.
--
-- A charge holds that lock, so it must be quick. What costs time is every statement that reads or
-- writes a table, and every expression at its first use in a transaction: so conditions are tested
-- together, and looked at one by one only where they do not all hold. Checks of tables are part of
-- types, which a session remembers.

CREATE SCHEMA dproo;

CREATE DOMAIN dproo.kind AS text COLLATE "C" CHECK (VALUE IN (
    'declared', 'reserved', 'recorded', 'restored', 'requested', 'approved', 'denied'
));
CREATE DOMAIN dproo.nano AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN dproo.atto AS numeric CHECK (VALUE >= 0);

CREATE TABLE dproo.event (
    seq bigint PRIMARY KEY,
    kind dproo.kind NOT NULL,
    dataset text COLLATE "C" NOT NULL,
    entry bigint NOT NULL,
    nano dproo.nano NOT NULL,
    body text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    id text COLLATE "C" UNIQUE,  -- of the request, so that one that is sent twice counts once
    role text COLLATE "C"        -- who sent it
);
CREATE INDEX event_charges ON dproo.event (dataset, seq) INCLUDE (kind, nano)
    WHERE kind IN ('reserved', 'restored');
CREATE INDEX event_declares ON dproo.event (seq) WHERE kind = 'declared';
CREATE UNIQUE INDEX event_is_recorded_once ON dproo.event (entry) WHERE kind = 'recorded';

-- One row: the number of the last event, its time, and the lock of every writer.
CREATE TABLE dproo.head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format integer NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL
);
INSERT INTO dproo.head (format, seq, at) VALUES (2, 0, '-infinity');

CREATE TABLE dproo.budget (
    dataset text COLLATE "C" PRIMARY KEY,
    folded text COLLATE "C" NOT NULL UNIQUE,  -- names that differ only in case are one name
    nano dproo.nano NOT NULL,
    atto dproo.atto NOT NULL,
    spent_nano dproo.nano NOT NULL DEFAULT 0,
    spent_atto dproo.atto NOT NULL DEFAULT 0,
    release_nano bigint,  -- the rules that were declared with it; null where there is none
    day_nano bigint,
    spender_nano bigint,
    until text COLLATE "C",
    approval_nano bigint
);

-- The releases that need the word of a second person.
CREATE TABLE dproo.approval (
    seq bigint PRIMARY KEY,
    digest text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'open'
        CHECK (state IN ('open', 'approved', 'denied', 'used'))
);

CREATE INDEX approval_digest ON dproo.approval (digest);

CREATE FUNCTION dproo.refuse_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or deleted' USING ERRCODE = 'DP000';
END $$;
CREATE TRIGGER event_is_final BEFORE UPDATE OR DELETE ON dproo.event
    FOR EACH ROW EXECUTE FUNCTION dproo.refuse_change();
CREATE TRIGGER event_stays BEFORE TRUNCATE ON dproo.event
    FOR EACH STATEMENT EXECUTE FUNCTION dproo.refuse_change();

-- The text of a JSON string with letters beyond those of ASCII that print.
CREATE FUNCTION dproo.json_escaped(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
    slash CONSTANT text := chr(92);
    plain CONSTANT text := replace(replace(value, slash, slash || slash), '"', slash || '"');
    letter text;
    code integer;
    made text := '';
BEGIN
    FOREACH letter IN ARRAY regexp_split_to_array(plain, '') LOOP
        code := ascii(letter);
        made := made || CASE
            WHEN code BETWEEN 32 AND 126 THEN letter
            WHEN code = 8 THEN slash || 'b'
            WHEN code = 9 THEN slash || 't'
            WHEN code = 10 THEN slash || 'n'
            WHEN code = 12 THEN slash || 'f'
            WHEN code = 13 THEN slash || 'r'
            WHEN code < 65536 THEN slash || 'u' || lpad(to_hex(code), 4, '0')
            ELSE slash || 'u' || to_hex(55296 + ((code - 65536) >> 10))
                || slash || 'u' || to_hex(56320 + ((code - 65536) & 1023))
        END;
    END LOOP;
    RETURN '"' || made || '"';
END $$;

-- The text of a JSON string in ASCII, as Python writes it.
CREATE FUNCTION dproo.json_string(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value ~ ('[^ -~]' COLLATE "C") THEN dproo.json_escaped(value)
        ELSE '"' || replace(replace(value, chr(92), chr(92) || chr(92)), '"', chr(92) || '"') || '"'
    END
$$;

-- The text of a JSON number. A float may be written in more than one way, since PostgreSQL's
-- shortest is not always Python's; an integer may not.
CREATE FUNCTION dproo.json_number(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
AS $$
DECLARE
    is_integer CONSTANT boolean := value ~ '^(0|-?[1-9][0-9]*)$';
    is_float CONSTANT boolean
        := value ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?(e[+-][0-9]+)?$' AND value ~ '[.e]';
BEGIN
    IF length(value) > 1000 OR NOT (is_integer OR is_float) THEN
        RAISE EXCEPTION 'a number is not written as Python does' USING ERRCODE = 'DP000';
    END IF;
    IF is_float THEN
        PERFORM value::float8;  -- raises where it is too large
    END IF;
    RETURN value;
END $$;

-- The one text of a JSON value, as Python writes it: ASCII, names sorted, no blanks.
CREATE FUNCTION dproo.canonical(value json, depth integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    made text;
    names integer;
    different integer;
BEGIN
    IF depth > 50 THEN
        RAISE EXCEPTION 'the value is nested too deeply' USING ERRCODE = 'DP000';
    END IF;
    CASE json_typeof(value)
    WHEN 'object' THEN
        SELECT count(*), count(DISTINCT part.key), coalesce(string_agg(
            dproo.json_string(part.key) || ':' || dproo.canonical(part.value, depth + 1), ','
            ORDER BY part.key COLLATE "C"), '')
        INTO names, different, made FROM json_each(value) AS part;
        IF names <> different THEN
            RAISE EXCEPTION 'a name is there twice' USING ERRCODE = 'DP000';
        END IF;
        RETURN '{' || made || '}';
    WHEN 'array' THEN
        SELECT coalesce(string_agg(dproo.canonical(part.value, depth + 1), ',' ORDER BY place), '')
        INTO made FROM json_array_elements(value) WITH ORDINALITY AS part (value, place);
        RETURN '[' || made || ']';
    WHEN 'string' THEN
        RETURN dproo.json_string(value #>> '{}');
    WHEN 'number' THEN
        RETURN dproo.json_number(value #>> '{}');
    WHEN 'boolean' THEN
        RETURN value #>> '{}';
    ELSE
        RETURN 'null';
    END CASE;
END $$;

-- Raise if a condition does not hold. Callers say by CASE which one is the first that does not.
CREATE FUNCTION dproo.refuse(condition text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF condition IS NOT NULL THEN
        RAISE EXCEPTION '%', condition USING ERRCODE = 'DP000';
    END IF;
END $$;

-- The same, in the place of a number.
CREATE FUNCTION dproo.refused(condition text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', condition USING ERRCODE = 'DP000';
END $$;

-- Whether a text is plainly canonical, as most are: a flat object of valid JSON, with names in
-- order and no token but those that have one way to be written. False says nothing.
CREATE FUNCTION dproo.is_plain(value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    -- Without a backslash in it, every second part of the text is a string.
    parts CONSTANT text[] := string_to_array(value, '"');
    last text;
BEGIN
    IF strpos(value, chr(92)) > 0 OR value ~ ('[^ -~]' COLLATE "C")
        OR value !~ ('^[{]([][{}:,]|true|false|null|"[^"]*"|'
            || '(0|-?[1-9][0-9]{0,14}|-?(0|[1-9][0-9]{0,14})[.][0-9]{1,30})[],}])*$')
        OR value ~ '.[{]|[[][^]]*[[]' OR json_typeof(value::json) <> 'object'
    THEN
        RETURN false;
    END IF;
    FOR i IN 1 .. array_length(parts, 1) / 2 LOOP
        IF left(parts[2 * i + 1], 1) = ':' THEN
            IF NOT coalesce(parts[2 * i] > last COLLATE "C", true) THEN
                RETURN false;
            END IF;
            last := parts[2 * i];
        END IF;
    END LOOP;
    RETURN true;
END $$;

-- What is wrong with a text that must be an object in canonical JSON, if anything is. No string of
-- PostgreSQL holds a zero byte; where there is none of the next one, that stands for it in the same
-- order.
CREATE FUNCTION dproo.fault(name text, value text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    zero CONSTANT text := chr(92) || 'u0000';
    one CONSTANT text := chr(92) || 'u0001';
    held CONSTANT text
        := CASE WHEN strpos(value, one) > 0 THEN value ELSE replace(value, zero, one) END;
BEGIN
    RETURN CASE
        WHEN (octet_length(value) <= 16777216 AND value LIKE '{%') IS NOT TRUE
            THEN name || ' must be an object'
        WHEN (dproo.is_plain(value) OR dproo.canonical(held::json, 0) = held) IS NOT TRUE
            THEN name || ' must be canonical JSON'
    END;
END $$;

-- An amount as the exact fraction that its text is, times a unit; rounded up or down.
CREATE FUNCTION dproo.amount(name text, value text, unit numeric, is_up boolean) RETURNS numeric
LANGUAGE sql AS $$
    SELECT CASE
        WHEN value IS NULL THEN NULL
        WHEN length(value) > 2500 OR value !~ '^[1-9][0-9]*(/[1-9][0-9]*)?$'
            THEN dproo.refused(name || ' must be a fraction')
        WHEN strpos(value, '/') = 0 THEN value::numeric * unit
        WHEN gcd(split_part(value, '/', 1)::numeric, split_part(value, '/', 2)::numeric) = 1
            AND value NOT LIKE '%/1'
            THEN div(split_part(value, '/', 1)::numeric * unit
                + CASE WHEN is_up THEN split_part(value, '/', 2)::numeric - 1 ELSE 0 END,
                split_part(value, '/', 2)::numeric)
        ELSE dproo.refused(name || ' must be in lowest terms')
    END
$$;

-- Wait for the lock that every writer holds, until the end of the transaction and for so many
-- milliseconds. Whoever hangs in a transaction gives it back after a minute.
CREATE FUNCTION dproo.settle(patience integer) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN patience IS NOT NULL THEN set_config('lock_timeout', patience::text, true)
            || set_config('idle_in_transaction_session_timeout', '60s', true) END
        || CASE WHEN current_setting('synchronous_commit') = 'off'
            THEN set_config('synchronous_commit', 'on', true) END
$$;

CREATE FUNCTION dproo.lock(patience integer DEFAULT NULL) RETURNS dproo.head
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    settled CONSTANT text := dproo.settle(patience);
    found dproo.head;
BEGIN
    SELECT * INTO STRICT found FROM dproo.head AS known WHERE known.one FOR UPDATE;
    RETURN found;
END $$;

-- Wait for the same lock, and return the number and the time of the next event. The time is the
-- server's, which never goes back in the ledger.
CREATE FUNCTION dproo.next(is_timed boolean, patience integer DEFAULT NULL) RETURNS dproo.head
LANGUAGE plpgsql AS $$
DECLARE
    settled CONSTANT text := dproo.settle(patience);
    made dproo.head;
BEGIN
    UPDATE dproo.head AS known
    SET seq = known.seq + 1,
        at = CASE WHEN is_timed THEN greatest(known.at, clock_timestamp()) ELSE known.at END
    WHERE known.one RETURNING * INTO STRICT made;
    RETURN made;
END $$;

-- The time as events keep it: UTC, to the second.
CREATE FUNCTION dproo.written(moment timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')
$$;

-- Write the event of a number after the one before it; without an entry it starts its own. Its body
-- is canonical, and so of ASCII that prints.
CREATE FUNCTION dproo.append(
    seq bigint, kind text, dataset text, entry bigint, nano bigint, body text, id text
) RETURNS dproo.event LANGUAGE plpgsql AS $$
DECLARE
    made dproo.event;
    previous text := repeat('0', 64);
BEGIN
    IF append.seq > 1 THEN
        SELECT known.hash INTO STRICT previous FROM dproo.event AS known
        WHERE known.seq = append.seq - 1;
    END IF;
    made := (
        append.seq, append.kind, append.dataset, coalesce(append.entry, append.seq), append.nano,
        append.body, encode(sha256(convert_to(
            '["' || previous || '",' || append.seq || ',"' || append.kind || '",'
            || dproo.json_string(append.dataset) || ',' || coalesce(append.entry, append.seq)
            || ',' || append.nano || ',"'
            || replace(replace(append.body, chr(92), chr(92) || chr(92)), '"', chr(92) || '"')
            || '"]', 'UTF8')), 'hex'),
        append.id, session_user);
    INSERT INTO dproo.event VALUES (made.*);
    RETURN made;
END $$;

-- Keep the rules that the functions hold spenders to; Python holds them to the others.
CREATE FUNCTION dproo.set_limits(dataset text, limits text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rules CONSTANT json := set_limits.limits::json;
BEGIN
    UPDATE dproo.budget AS known
    SET release_nano = dproo.amount('per_release', rules ->> 'per_release', 1000000000, false),
        day_nano = dproo.amount('per_day', rules ->> 'per_day', 1000000000, false),
        spender_nano = dproo.amount('per_spender', rules ->> 'per_spender', 1000000000, false),
        until = to_char((rules ->> 'until')::date, 'YYYY-MM-DD'),
        approval_nano
            = dproo.amount('approval_above', rules ->> 'approval_above', 1000000000, false)
    WHERE known.dataset = set_limits.dataset;
END $$;

-- What fixes a release that a second person approves.
CREATE FUNCTION dproo.digest(dataset text, epsilon text, delta text, request text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN encode(sha256(convert_to(
        json_build_array(dataset, epsilon, delta, request)::text, 'UTF8')), 'hex');
END $$;

-- For owners: give a dataset its budget.
CREATE FUNCTION dproo.declare_budget(
    dataset text, folded text, budget text, delta text, neighbours text,
    records_per_person integer, id text, limits text
) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(is_timed => true);
    most CONSTANT numeric := dproo.amount('budget', declare_budget.budget, 1000000000, false);
    most_delta CONSTANT numeric
        := coalesce(dproo.amount('delta', declare_budget.delta, 1000000000000000000, false), 0);
BEGIN
    PERFORM dproo.refuse(CASE
        WHEN (
            length(declare_budget.dataset) BETWEEN 1 AND 200
            AND length(declare_budget.folded) BETWEEN 1 AND 600
        ) IS NOT TRUE THEN 'dataset must be 1 to 200 characters'
        WHEN (most BETWEEN 1 AND 1000000000000000) IS NOT TRUE
            THEN 'budget must be between 1e-9 and 1000000'
        WHEN (
            declare_budget.delta IS NULL OR most_delta BETWEEN 1 AND 999999999999999999
        ) IS NOT TRUE THEN 'delta must be at least 1e-18 and below 1'
        WHEN (declare_budget.neighbours IN ('replace', 'add-remove')) IS NOT TRUE
            THEN 'neighbours must be replace or add-remove'
        WHEN (declare_budget.records_per_person >= 1) IS NOT TRUE
            THEN 'records_per_person must be positive'
        WHEN (declare_budget.id ~ '^[0-9a-f]{32}$') IS NOT TRUE
            THEN 'id must be 32 hexadecimal digits'
        WHEN declare_budget.limits IS NOT NULL THEN dproo.fault('limits', declare_budget.limits)
    END);
    INSERT INTO dproo.budget (dataset, folded, nano, atto)
    VALUES (declare_budget.dataset, declare_budget.folded, most, most_delta);
    PERFORM dproo.set_limits(declare_budget.dataset, declare_budget.limits);
    RETURN dproo.append(this.seq, 'declared', declare_budget.dataset, 0, most::bigint,
        '{"at":"' || dproo.written(this.at) || '","budget":"' || declare_budget.budget || '"'
        || coalesce(',"delta":"' || declare_budget.delta || '"', '')
        || ',"id":"' || declare_budget.id || '"'
        || coalesce(',"limits":' || declare_budget.limits, '')
        || ',"neighbours":"' || declare_budget.neighbours
        || '","records_per_person":' || declare_budget.records_per_person || '}', declare_budget.id);
END $$;

-- For spenders: charge a release, if the budget has as much left. Return the event, and before it
-- those that came since one that the caller knows.
CREATE FUNCTION dproo.reserve(
    dataset text, epsilon text, delta text, id text, request text,
    since bigint DEFAULT NULL, patience integer DEFAULT NULL
) RETURNS SETOF dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(is_timed => true, patience => reserve.patience);
    time CONSTANT text := dproo.written(this.at);
    charge CONSTANT numeric := dproo.amount('epsilon', reserve.epsilon, 1000000000, true);
    delta_charge numeric := 0;
    account dproo.budget;
    today bigint;
    theirs bigint;
    grant_seq bigint;
    made dproo.event;
BEGIN
    IF reserve.delta IS NOT NULL THEN
        delta_charge := dproo.amount('delta', reserve.delta, 1000000000000000000, true);
        PERFORM dproo.refuse('delta must be below 1')
        WHERE (dproo.amount('delta', reserve.delta, 1, false) = 0) IS NOT TRUE;
    END IF;
    IF (
        charge > 1 AND charge <= 1000000000000 AND reserve.id ~ '^[0-9a-f]{32}$'
        AND dproo.is_plain(reserve.request)
    ) IS NOT TRUE THEN
        PERFORM dproo.refuse(CASE
            WHEN (
                charge BETWEEN 1 AND 1000000000000
                AND dproo.amount('epsilon', reserve.epsilon, 1e30, false) >= 1
            ) IS NOT TRUE THEN 'epsilon must be between 1e-30 and 1000'
            WHEN (reserve.id ~ '^[0-9a-f]{32}$') IS NOT TRUE
                THEN 'id must be 32 hexadecimal digits'
            ELSE dproo.fault('request', reserve.request)
        END);
    END IF;
    UPDATE dproo.budget AS known
    SET spent_nano = known.spent_nano + charge, spent_atto = known.spent_atto + delta_charge
    WHERE known.dataset = reserve.dataset RETURNING * INTO account;
    IF (
        account.spent_nano <= account.nano
        AND coalesce(account.until, account.release_nano::text) IS NULL AND delta_charge = 0
    ) IS NOT TRUE THEN
        PERFORM dproo.refuse(CASE
            WHEN account.dataset IS NULL THEN 'dataset must have a declared budget'
            WHEN (account.spent_nano <= account.nano) IS NOT TRUE
                THEN 'epsilon must be at most what is left'
            WHEN (delta_charge = 0 OR account.spent_atto <= account.atto) IS NOT TRUE
                THEN 'delta must be at most what is left'
            WHEN (account.until IS NULL OR left(time, 10) < account.until) IS NOT TRUE
                THEN 'the rule until'
            WHEN (account.release_nano IS NULL OR charge <= account.release_nano) IS NOT TRUE
                THEN 'the rule per_release'
        END);
    END IF;
    IF account.day_nano IS NOT NULL THEN
        SELECT coalesce(sum(known.nano), 0) INTO today FROM dproo.event AS known
        WHERE known.dataset = reserve.dataset AND known.kind IN ('reserved', 'restored')
            AND left(known.body, 17) = '{"at":"' || left(time, 10);
        PERFORM dproo.refuse('the rule per_day')
        WHERE (today + charge <= account.day_nano) IS NOT TRUE;
    END IF;
    IF account.spender_nano IS NOT NULL THEN
        SELECT coalesce(sum(known.nano), 0) INTO theirs FROM dproo.event AS known
        WHERE known.dataset = reserve.dataset AND known.kind IN ('reserved', 'restored')
            AND (known.role = session_user OR known.kind = 'restored');
        PERFORM dproo.refuse('the rule per_spender')
        WHERE (theirs + charge <= account.spender_nano) IS NOT TRUE;
    END IF;
    IF charge > account.approval_nano THEN
        SELECT known.seq INTO grant_seq FROM dproo.approval AS known
        WHERE known.state = 'approved' AND known.digest = dproo.digest(
            reserve.dataset, reserve.epsilon, reserve.delta, reserve.request)
        ORDER BY known.seq DESC LIMIT 1;
        PERFORM dproo.refuse('the rule approval_above') WHERE grant_seq IS NULL;
        UPDATE dproo.approval AS known SET state = 'used' WHERE known.seq = grant_seq;
    END IF;
    made := dproo.append(this.seq, 'reserved', reserve.dataset, NULL, charge::bigint,
        '{"at":"' || time || '","by":' || dproo.json_string(session_user)
        || coalesce(',"delta":"' || reserve.delta || '"', '')
        || ',"epsilon":"' || reserve.epsilon || '"' || coalesce(',"grant":' || grant_seq, '')
        || ',"id":"' || reserve.id || '","request":' || reserve.request || '}', reserve.id);
    IF reserve.since < this.seq - 1 THEN
        PERFORM dproo.refuse('since must be at most 100 events ago')
        WHERE this.seq - reserve.since > 100;
        RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.seq > reserve.since AND known.seq < this.seq ORDER BY known.seq;
    END IF;
    RETURN NEXT made;
END $$;

-- For spenders: keep a release of one's own, before any of it is shown; returns as reserve does.
CREATE FUNCTION dproo.record(
    entry bigint, receipt text, since bigint DEFAULT NULL, patience integer DEFAULT NULL
) RETURNS SETOF dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(
        is_timed => false, patience => record.patience);  -- it would tell how long the data took
    reserved dproo.event;
    made dproo.event;
BEGIN
    SELECT * INTO reserved FROM dproo.event AS known
    WHERE known.seq = record.entry AND known.kind = 'reserved';
    IF (reserved.role = session_user AND dproo.is_plain(record.receipt)) IS NOT TRUE THEN
        PERFORM dproo.refuse(CASE
            WHEN reserved.seq IS NULL THEN 'entry must be a charge in this ledger'
            WHEN (reserved.role = session_user) IS NOT TRUE
                THEN 'entry must be a charge of your own'
            ELSE dproo.fault('receipt', record.receipt)
        END);
    END IF;
    made := dproo.append(this.seq, 'recorded', reserved.dataset, reserved.seq, 0,
        '{"receipt":' || record.receipt || '}', NULL);
    IF record.since < this.seq - 1 THEN
        PERFORM dproo.refuse('since must be at most 100 events ago')
        WHERE this.seq - record.since > 100;
        RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.seq > record.since AND known.seq < this.seq ORDER BY known.seq;
    END IF;
    RETURN NEXT made;
END $$;

-- For spenders: ask a second person for a release, which charges nothing.
CREATE FUNCTION dproo.ask(dataset text, epsilon text, delta text, id text, request text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(is_timed => true);
    charge CONSTANT numeric := dproo.amount('epsilon', ask.epsilon, 1000000000, true);
    account dproo.budget;
    made dproo.event;
BEGIN
    SELECT * INTO account FROM dproo.budget AS known WHERE known.dataset = ask.dataset;
    PERFORM dproo.refuse(CASE
        WHEN (charge BETWEEN 1 AND 1000000000000) IS NOT TRUE
            THEN 'epsilon must be between 1e-30 and 1000'
        WHEN (ask.delta IS NULL OR dproo.amount('delta', ask.delta, 1, false) = 0) IS NOT TRUE
            THEN 'delta must be below 1'
        WHEN (ask.id ~ '^[0-9a-f]{32}$') IS NOT TRUE THEN 'id must be 32 hexadecimal digits'
        WHEN (charge > account.approval_nano) IS NOT TRUE THEN 'a release that needs nobody else'
        ELSE dproo.fault('request', ask.request)
    END);
    made := dproo.append(this.seq, 'requested', ask.dataset, NULL, charge::bigint,
        '{"at":"' || dproo.written(this.at) || '"' || coalesce(',"delta":"' || ask.delta || '"', '')
        || ',"epsilon":"' || ask.epsilon || '","id":"' || ask.id
        || '","request":' || ask.request || '}', ask.id);
    INSERT INTO dproo.approval (seq, digest, role) VALUES (
        made.seq, dproo.digest(ask.dataset, ask.epsilon, ask.delta, ask.request), session_user);
    RETURN made;
END $$;

CREATE FUNCTION dproo.decide(entry bigint, decision text) RETURNS dproo.event LANGUAGE plpgsql AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(is_timed => true);
    asked dproo.approval;
    dataset text;
BEGIN
    SELECT * INTO asked FROM dproo.approval AS known WHERE known.seq = decide.entry;
    PERFORM dproo.refuse('the request must be open') WHERE (asked.state = 'open') IS NOT TRUE;
    IF asked.role = session_user THEN
        RAISE EXCEPTION 'whoever asks does not decide' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE dproo.approval AS known SET state = decision WHERE known.seq = decide.entry;
    SELECT known.dataset INTO STRICT dataset FROM dproo.event AS known
    WHERE known.seq = decide.entry;
    RETURN dproo.append(this.seq, decision, dataset, decide.entry, 0,
        '{"at":"' || dproo.written(this.at) || '","by":' || dproo.json_string(session_user) || '}', NULL);
END $$;

-- For owners: let a release be charged once, or never.
CREATE FUNCTION dproo.approve(entry bigint) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN dproo.decide(approve.entry, 'approved');
END $$;

CREATE FUNCTION dproo.deny(entry bigint) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN dproo.decide(deny.entry, 'denied');
END $$;

-- For owners: charge what was lost with an older copy, whether or not it fits.
CREATE FUNCTION dproo.restore(dataset text, charge bigint, delta text, head text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    this CONSTANT dproo.head := dproo.next(is_timed => true);
    delta_charge CONSTANT numeric
        := coalesce(dproo.amount('delta', restore.delta, 1000000000000000000, true), 0);
BEGIN
    PERFORM dproo.refuse(CASE
        WHEN (restore.charge >= 0) IS NOT TRUE THEN 'charge must be at least 0'
        WHEN (restore.head ~ '^[0-9a-f]{64}$') IS NOT TRUE THEN 'head must be a hash'
    END);
    UPDATE dproo.budget AS known
    SET spent_nano = known.spent_nano + restore.charge,
        spent_atto = known.spent_atto + delta_charge
    WHERE known.dataset = restore.dataset;
    IF NOT FOUND THEN
        PERFORM dproo.refuse('dataset must have a declared budget');
    END IF;
    RETURN dproo.append(this.seq, 'restored', restore.dataset, 0, restore.charge,
        '{"at":"' || dproo.written(this.at) || '"' || coalesce(',"delta":"' || restore.delta || '"', '')
        || ',"head":"' || restore.head || '"}', NULL);
END $$;

-- For everyone: what a transaction begins by looking at. A function keeps its plan.
CREATE FUNCTION dproo.ends() RETURNS SETOF dproo.event LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT * FROM dproo.event AS known WHERE known.seq = 1;
    RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.seq = (SELECT head.seq FROM dproo.head WHERE head.one) AND known.seq > 1;
END $$;

-- For everyone: a charge, its record if there is one, and the declaration of its dataset.
CREATE FUNCTION dproo.found(number bigint) RETURNS SETOF dproo.event LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.seq = found.number AND known.kind = 'reserved';
    RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.entry = found.number AND known.kind = 'recorded';
    RETURN QUERY SELECT * FROM dproo.event AS known
        WHERE known.kind = 'declared' AND known.dataset
            = (SELECT charged.dataset FROM dproo.event AS charged WHERE charged.seq = found.number);
END $$;

-- For everyone: the declaration of a dataset with the sum of its charges, and its first charge.
CREATE FUNCTION dproo.standing(name text) RETURNS TABLE (
    seq bigint, kind dproo.kind, dataset text, entry bigint, nano dproo.nano, body text,
    hash text, spent numeric
) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY SELECT known.seq, known.kind, known.dataset, known.entry, known.nano, known.body,
        known.hash, (
            SELECT coalesce(sum(charged.nano), 0) FROM dproo.event AS charged
            WHERE charged.kind IN ('reserved', 'restored') AND charged.dataset = standing.name
        )
    FROM dproo.event AS known WHERE known.kind = 'declared' AND known.dataset = standing.name;
    RETURN QUERY SELECT known.seq, known.kind, known.dataset, known.entry, known.nano, known.body,
        known.hash, 0::numeric
    FROM dproo.event AS known WHERE known.kind = 'reserved' AND known.dataset = standing.name
    ORDER BY known.seq LIMIT 1;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dproo FROM PUBLIC;
GRANT USAGE ON SCHEMA dproo TO dproo_owner, dproo_spender, dproo_auditor;
GRANT SELECT ON dproo.event, dproo.head, dproo.budget, dproo.approval
    TO dproo_owner, dproo_spender, dproo_auditor;
GRANT EXECUTE ON FUNCTION dproo.ends, dproo.found, dproo.standing
    TO dproo_owner, dproo_spender, dproo_auditor;
GRANT EXECUTE ON FUNCTION dproo.lock TO dproo_owner, dproo_spender;
GRANT EXECUTE ON FUNCTION dproo.declare_budget, dproo.restore, dproo.approve, dproo.deny
    TO dproo_owner;
GRANT EXECUTE ON FUNCTION dproo.reserve, dproo.record, dproo.ask TO dproo_spender;
