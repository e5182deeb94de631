-- The ledger of a team: its tables, which nobody but the role that runs this can write, and the
-- functions through which owners and spenders write them.
--
-- Whoever calls a function chooses the arguments, the search path and the session's settings. So
-- each one pins the settings that its text depends on, names everything with its schema, checks
-- every argument, and takes the lock on dproo.head before it looks at anything.

CREATE SCHEMA dproo;

CREATE TABLE dproo.event (
    seq bigint PRIMARY KEY,
    kind text COLLATE "C" NOT NULL
        CHECK (kind IN (
            'declared', 'reserved', 'recorded', 'restored', 'requested', 'approved', 'denied'
        )),
    dataset text COLLATE "C" NOT NULL,
    entry bigint NOT NULL,
    nano bigint NOT NULL CHECK (nano >= 0),
    body text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    id text COLLATE "C" UNIQUE,  -- of the request, so that one that is sent twice counts once
    role text COLLATE "C"        -- who sent it
);
CREATE INDEX event_charges ON dproo.event (dataset, seq) INCLUDE (kind, nano)
    WHERE kind IN ('reserved', 'restored');
CREATE INDEX event_declares ON dproo.event (seq) WHERE kind = 'declared';
CREATE INDEX event_entry ON dproo.event (entry);
CREATE UNIQUE INDEX event_is_recorded_once ON dproo.event (entry) WHERE kind = 'recorded';

-- One row: the end of the chain, and the lock of every writer.
CREATE TABLE dproo.head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    format integer NOT NULL,
    seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL
);
INSERT INTO dproo.head (format, seq, hash, at) VALUES (1, 0, repeat('0', 64), '-infinity');

CREATE TABLE dproo.budget (
    dataset text COLLATE "C" PRIMARY KEY,
    folded text COLLATE "C" NOT NULL UNIQUE,  -- names that differ only in case are one name
    nano bigint NOT NULL CHECK (nano > 0),
    atto numeric NOT NULL CHECK (atto >= 0),
    spent_nano bigint NOT NULL DEFAULT 0 CHECK (spent_nano >= 0),
    spent_atto numeric NOT NULL DEFAULT 0 CHECK (spent_atto >= 0),
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

CREATE FUNCTION dproo.refuse_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or deleted' USING ERRCODE = 'DP000';
END $$;
CREATE TRIGGER event_is_final BEFORE UPDATE OR DELETE ON dproo.event
    FOR EACH ROW EXECUTE FUNCTION dproo.refuse_change();
CREATE TRIGGER event_stays BEFORE TRUNCATE ON dproo.event
    FOR EACH STATEMENT EXECUTE FUNCTION dproo.refuse_change();

-- The text of a JSON string in ASCII, as Python writes it.
CREATE FUNCTION dproo.json_string(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    slash CONSTANT text := chr(92);
    plain text := replace(replace(value, slash, slash || slash), '"', slash || '"');
    letter text;
    code integer;
    made text := '';
BEGIN
    IF octet_length(plain) = length(plain) AND plain !~ ('[^ -~]' COLLATE "C") THEN
        RETURN '"' || plain || '"';
    END IF;
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

-- The text of a JSON number. A float may be written in more than one way, since PostgreSQL's
-- shortest is not always Python's; an integer may not.
CREATE FUNCTION dproo.json_number(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
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
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
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

CREATE FUNCTION dproo.require(holds boolean, condition text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF holds IS NOT TRUE THEN  -- also where it is null
        RAISE EXCEPTION '%', condition USING ERRCODE = 'DP000';
    END IF;
END $$;

-- Raise unless a text is an object in canonical JSON.
CREATE FUNCTION dproo.require_object(name text, value text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
BEGIN
    PERFORM dproo.require(octet_length(value) <= 16777216 AND value LIKE '{%', name || ' must be an object');
    PERFORM dproo.require(dproo.canonical(value::json, 0) = value, name || ' must be canonical JSON');
END $$;

-- An amount as the exact fraction that its text is, times a unit; rounded up or down.
CREATE FUNCTION dproo.amount(name text, value text, unit numeric, is_up boolean) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    upper_part numeric;
    lower_part numeric;
BEGIN
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM dproo.require(
        length(value) <= 2500 AND value ~ '^[1-9][0-9]*(/[1-9][0-9]*)?$',
        name || ' must be a fraction'
    );
    upper_part := split_part(value, '/', 1)::numeric;
    lower_part := coalesce(nullif(split_part(value, '/', 2), ''), '1')::numeric;
    PERFORM dproo.require(
        gcd(upper_part, lower_part) = 1 AND value NOT LIKE '%/1', name || ' must be in lowest terms'
    );
    RETURN div(upper_part * unit + CASE WHEN is_up THEN lower_part - 1 ELSE 0 END, lower_part);
END $$;

-- Wait for the lock that every writer holds, until the end of the transaction.
CREATE FUNCTION dproo.lock() RETURNS dproo.head LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found dproo.head;
BEGIN
    SELECT * INTO STRICT found FROM dproo.head FOR UPDATE;
    RETURN found;
END $$;

-- The time of the server, which never goes back in the ledger: UTC, to the second.
CREATE FUNCTION dproo.tick() RETURNS text LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET TimeZone = 'UTC' AS $$
DECLARE
    time timestamptz;
BEGIN
    UPDATE dproo.head SET at = greatest(at, clock_timestamp()) RETURNING at INTO STRICT time;
    RETURN to_char(time, 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"');
END $$;

-- Write the next event; without an entry it starts its own.
CREATE FUNCTION dproo.append(
    kind text, dataset text, entry bigint, nano bigint, body text, id text
) RETURNS dproo.event LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    last CONSTANT dproo.head := dproo.lock();
    made dproo.event;
BEGIN
    made.seq := last.seq + 1;
    made.kind := append.kind;
    made.dataset := append.dataset;
    made.entry := coalesce(append.entry, made.seq);
    made.nano := append.nano;
    made.body := append.body;
    made.id := append.id;
    made.role := session_user;
    made.hash := encode(sha256(convert_to(
        '["' || last.hash || '",' || made.seq || ',"' || made.kind || '",'
        || dproo.json_string(made.dataset) || ',' || made.entry || ',' || made.nano || ','
        || dproo.json_string(made.body) || ']', 'UTF8')), 'hex');
    INSERT INTO dproo.event VALUES (made.*);
    UPDATE dproo.head SET seq = made.seq, hash = made.hash;
    RETURN made;
END $$;

-- Keep the rules that the functions hold spenders to; Python holds them to the others.
CREATE FUNCTION dproo.set_limits(dataset text, limits text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
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
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN encode(sha256(convert_to(
        json_build_array(dataset, epsilon, delta, request)::text, 'UTF8')), 'hex');
END $$;

-- For owners: give a dataset its budget.
CREATE FUNCTION dproo.declare_budget(
    dataset text, folded text, budget text, delta text, neighbours text,
    records_per_person integer, id text, limits text
) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    most CONSTANT numeric := dproo.amount('budget', declare_budget.budget, 1000000000, false);
    most_delta CONSTANT numeric
        := coalesce(dproo.amount('delta', declare_budget.delta, 1000000000000000000, false), 0);
BEGIN
    PERFORM dproo.lock();
    PERFORM dproo.require(
        length(declare_budget.dataset) BETWEEN 1 AND 200 AND length(declare_budget.folded) BETWEEN 1 AND 600,
        'dataset must be 1 to 200 characters'
    );
    PERFORM dproo.require(
        most BETWEEN 1 AND 1000000000000000, 'budget must be between 1e-9 and 1000000'
    );
    PERFORM dproo.require(
        declare_budget.delta IS NULL OR most_delta BETWEEN 1 AND 999999999999999999,
        'delta must be at least 1e-18 and below 1'
    );
    PERFORM dproo.require(
        declare_budget.neighbours IN ('replace', 'add-remove'),
        'neighbours must be replace or add-remove'
    );
    PERFORM dproo.require(declare_budget.records_per_person >= 1, 'records_per_person must be positive');
    PERFORM dproo.require(declare_budget.id ~ '^[0-9a-f]{32}$', 'id must be 32 hexadecimal digits');
    IF declare_budget.limits IS NOT NULL THEN
        PERFORM dproo.require_object('limits', declare_budget.limits);
    END IF;
    INSERT INTO dproo.budget (dataset, folded, nano, atto)
    VALUES (declare_budget.dataset, declare_budget.folded, most, most_delta);
    PERFORM dproo.set_limits(declare_budget.dataset, declare_budget.limits);
    RETURN dproo.append('declared', declare_budget.dataset, 0, most::bigint,
        '{"at":"' || dproo.tick() || '","budget":"' || declare_budget.budget || '"'
        || coalesce(',"delta":"' || declare_budget.delta || '"', '')
        || ',"id":"' || declare_budget.id || '"'
        || coalesce(',"limits":' || declare_budget.limits, '')
        || ',"neighbours":"' || declare_budget.neighbours
        || '","records_per_person":' || declare_budget.records_per_person || '}', declare_budget.id);
END $$;

-- For spenders: charge a release, if the budget has as much left.
CREATE FUNCTION dproo.reserve(dataset text, epsilon text, delta text, id text, request text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    charge CONSTANT numeric := dproo.amount('epsilon', reserve.epsilon, 1000000000, true);
    delta_charge CONSTANT numeric
        := coalesce(dproo.amount('delta', reserve.delta, 1000000000000000000, true), 0);
    account dproo.budget;
    time text;
    today bigint;
    theirs bigint;
    grant_seq bigint;
BEGIN
    PERFORM dproo.lock();
    time := dproo.tick();
    PERFORM dproo.require(
        charge BETWEEN 1 AND 1000000000000
            AND dproo.amount('epsilon', reserve.epsilon, 1e30, false) >= 1,
        'epsilon must be between 1e-30 and 1000'
    );
    PERFORM dproo.require(
        reserve.delta IS NULL
            OR dproo.amount('delta', reserve.delta, 1, false) = 0,
        'delta must be below 1'
    );
    PERFORM dproo.require(reserve.id ~ '^[0-9a-f]{32}$', 'id must be 32 hexadecimal digits');
    PERFORM dproo.require_object('request', reserve.request);
    SELECT * INTO account FROM dproo.budget AS known WHERE known.dataset = reserve.dataset;
    PERFORM dproo.require(FOUND, 'dataset must have a declared budget');
    PERFORM dproo.require(
        account.spent_nano + charge <= account.nano, 'epsilon must be at most what is left'
    );
    PERFORM dproo.require(
        delta_charge = 0 OR account.spent_atto + delta_charge <= account.atto,
        'delta must be at most what is left'
    );
    PERFORM dproo.require(
        account.until IS NULL OR left(time, 10) < account.until, 'the rule until'
    );
    PERFORM dproo.require(
        account.release_nano IS NULL OR charge <= account.release_nano, 'the rule per_release'
    );
    IF account.day_nano IS NOT NULL THEN
        SELECT coalesce(sum(known.nano), 0) INTO today FROM dproo.event AS known
        WHERE known.dataset = reserve.dataset AND known.kind IN ('reserved', 'restored')
            AND left(known.body, 17) = '{"at":"' || left(time, 10);
        PERFORM dproo.require(today + charge <= account.day_nano, 'the rule per_day');
    END IF;
    IF account.spender_nano IS NOT NULL THEN
        SELECT coalesce(sum(known.nano), 0) INTO theirs FROM dproo.event AS known
        WHERE known.dataset = reserve.dataset AND known.kind IN ('reserved', 'restored')
            AND (known.role = session_user OR known.kind = 'restored');
        PERFORM dproo.require(theirs + charge <= account.spender_nano, 'the rule per_spender');
    END IF;
    IF charge > account.approval_nano THEN
        SELECT known.seq INTO grant_seq FROM dproo.approval AS known
        WHERE known.state = 'approved' AND known.digest = dproo.digest(
            reserve.dataset, reserve.epsilon, reserve.delta, reserve.request)
        ORDER BY known.seq DESC LIMIT 1;
        PERFORM dproo.require(FOUND, 'the rule approval_above');
        UPDATE dproo.approval AS known SET state = 'used' WHERE known.seq = grant_seq;
    END IF;
    UPDATE dproo.budget AS known
    SET spent_nano = known.spent_nano + charge, spent_atto = known.spent_atto + delta_charge
    WHERE known.dataset = reserve.dataset;
    RETURN dproo.append('reserved', reserve.dataset, NULL, charge::bigint,
        '{"at":"' || time || '","by":' || dproo.json_string(session_user)
        || coalesce(',"delta":"' || reserve.delta || '"', '')
        || ',"epsilon":"' || reserve.epsilon || '"' || coalesce(',"grant":' || grant_seq, '')
        || ',"id":"' || reserve.id || '","request":' || reserve.request || '}', reserve.id);
END $$;

-- For spenders: keep a release of one's own, before any of it is shown.
CREATE FUNCTION dproo.record(entry bigint, receipt text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    reserved dproo.event;
BEGIN
    PERFORM dproo.lock();
    PERFORM dproo.require_object('receipt', record.receipt);
    SELECT * INTO reserved FROM dproo.event AS known
    WHERE known.seq = record.entry AND known.kind = 'reserved';
    PERFORM dproo.require(FOUND, 'entry must be a charge in this ledger');
    PERFORM dproo.require(reserved.role = session_user, 'entry must be a charge of your own');
    RETURN dproo.append('recorded', reserved.dataset, reserved.seq, 0,
        '{"receipt":' || record.receipt || '}', NULL);
END $$;

-- For spenders: ask a second person for a release, which charges nothing.
CREATE FUNCTION dproo.ask(dataset text, epsilon text, delta text, id text, request text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    charge CONSTANT numeric := dproo.amount('epsilon', ask.epsilon, 1000000000, true);
    account dproo.budget;
    made dproo.event;
BEGIN
    PERFORM dproo.lock();
    PERFORM dproo.require(
        charge BETWEEN 1 AND 1000000000000, 'epsilon must be between 1e-30 and 1000'
    );
    PERFORM dproo.require(
        ask.delta IS NULL OR dproo.amount('delta', ask.delta, 1, false) = 0, 'delta must be below 1'
    );
    PERFORM dproo.require(ask.id ~ '^[0-9a-f]{32}$', 'id must be 32 hexadecimal digits');
    PERFORM dproo.require_object('request', ask.request);
    SELECT * INTO account FROM dproo.budget AS known WHERE known.dataset = ask.dataset;
    PERFORM dproo.require(charge > account.approval_nano, 'a release that needs nobody else');
    made := dproo.append('requested', ask.dataset, NULL, charge::bigint,
        '{"at":"' || dproo.tick() || '"' || coalesce(',"delta":"' || ask.delta || '"', '')
        || ',"epsilon":"' || ask.epsilon || '","id":"' || ask.id
        || '","request":' || ask.request || '}', ask.id);
    INSERT INTO dproo.approval (seq, digest, role) VALUES (
        made.seq, dproo.digest(ask.dataset, ask.epsilon, ask.delta, ask.request), session_user);
    RETURN made;
END $$;

CREATE FUNCTION dproo.decide(entry bigint, decision text) RETURNS dproo.event LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    asked dproo.approval;
    dataset text;
BEGIN
    PERFORM dproo.lock();
    SELECT * INTO asked FROM dproo.approval AS known WHERE known.seq = decide.entry;
    PERFORM dproo.require(asked.state = 'open', 'the request must be open');
    IF asked.role = session_user THEN
        RAISE EXCEPTION 'whoever asks does not decide' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE dproo.approval AS known SET state = decision WHERE known.seq = decide.entry;
    SELECT known.dataset INTO STRICT dataset FROM dproo.event AS known
    WHERE known.seq = decide.entry;
    RETURN dproo.append(decision, dataset, decide.entry, 0,
        '{"at":"' || dproo.tick() || '","by":' || dproo.json_string(session_user) || '}', NULL);
END $$;

-- For owners: let a release be charged once, or never.
CREATE FUNCTION dproo.approve(entry bigint) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN dproo.decide(approve.entry, 'approved');
END $$;

CREATE FUNCTION dproo.deny(entry bigint) RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN dproo.decide(deny.entry, 'denied');
END $$;

-- For owners: charge what was lost with an older copy, whether or not it fits.
CREATE FUNCTION dproo.restore(dataset text, charge bigint, delta text, head text)
RETURNS dproo.event LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    delta_charge CONSTANT numeric
        := coalesce(dproo.amount('delta', restore.delta, 1000000000000000000, true), 0);
BEGIN
    PERFORM dproo.lock();
    PERFORM dproo.require(restore.charge >= 0, 'charge must be at least 0');
    PERFORM dproo.require(restore.head ~ '^[0-9a-f]{64}$', 'head must be a hash');
    UPDATE dproo.budget AS known
    SET spent_nano = known.spent_nano + restore.charge,
        spent_atto = known.spent_atto + delta_charge
    WHERE known.dataset = restore.dataset;
    PERFORM dproo.require(FOUND, 'dataset must have a declared budget');
    RETURN dproo.append('restored', restore.dataset, 0, restore.charge,
        '{"at":"' || dproo.tick() || '"' || coalesce(',"delta":"' || restore.delta || '"', '')
        || ',"head":"' || restore.head || '"}', NULL);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dproo FROM PUBLIC;
GRANT USAGE ON SCHEMA dproo TO dproo_owner, dproo_spender, dproo_auditor;
GRANT SELECT ON dproo.event, dproo.head, dproo.budget, dproo.approval
    TO dproo_owner, dproo_spender, dproo_auditor;
GRANT EXECUTE ON FUNCTION dproo.lock TO dproo_owner, dproo_spender;
GRANT EXECUTE ON FUNCTION dproo.declare_budget, dproo.restore, dproo.approve, dproo.deny
    TO dproo_owner;
GRANT EXECUTE ON FUNCTION dproo.reserve, dproo.record, dproo.ask TO dproo_spender;
