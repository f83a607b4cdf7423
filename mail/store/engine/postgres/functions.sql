-- Functions, aggregates and operators of SQLite that the statements use and PostgreSQL lacks. The search path names their
-- schema before PostgreSQL's own. Those in SQL are inlined by the planner.
-- All of it runs again on existing databases after a change. Do not change the types or names of parameters, or what a
-- function returns: PostgreSQL refuses that. Operators are not replaced; what they call is.

-- The larger and the smaller of two values; null if one is.
CREATE OR REPLACE FUNCTION max(bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL ELSE greatest($1, $2) END';
CREATE OR REPLACE FUNCTION min(bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL ELSE least($1, $2) END';
CREATE OR REPLACE FUNCTION max(double precision, double precision) RETURNS double precision IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL ELSE greatest($1, $2) END';

-- PostgreSQL's own sum of bigint is numeric, whose division has fractions.
CREATE OR REPLACE AGGREGATE sum(bigint) (SFUNC = int8pl, STYPE = bigint);

-- A condition counts as 1 or 0.
CREATE OR REPLACE FUNCTION add_truth(bigint, boolean) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1, 0) + $2::int END';
CREATE OR REPLACE AGGREGATE sum(boolean) (SFUNC = add_truth, STYPE = bigint);
CREATE OR REPLACE FUNCTION one_of(bigint, boolean) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE greatest($1, $2::int) END';
CREATE OR REPLACE AGGREGATE max(boolean) (SFUNC = one_of, STYPE = bigint);
CREATE OR REPLACE FUNCTION all_of(bigint, boolean) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE least($1, $2::int) END';
CREATE OR REPLACE AGGREGATE min(boolean) (SFUNC = all_of, STYPE = bigint);

CREATE OR REPLACE FUNCTION iif(boolean, anycompatible, anycompatible) RETURNS anycompatible IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $1 THEN $2 ELSE $3 END';
CREATE OR REPLACE FUNCTION instr(text, text) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT strpos($1, $2)::bigint';
CREATE OR REPLACE FUNCTION hex(bytea) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT upper(encode($1, ''hex''))';

-- A negative start counts from the end, and a negative length yields nothing; PostgreSQL refuses it.
CREATE OR REPLACE FUNCTION substr(text, integer) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, CASE WHEN $2 < 0 THEN greatest(pg_catalog.length($1) + $2 + 1, 1) ELSE $2 END::integer)';
CREATE OR REPLACE FUNCTION substr(text, integer, integer) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, $2::integer, least(greatest($3, 0), 2147483647)::integer)';
CREATE OR REPLACE FUNCTION substr(text, bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, CASE WHEN $2 < 0 THEN greatest(pg_catalog.length($1) + $2 + 1, 1) ELSE $2 END::integer)';
CREATE OR REPLACE FUNCTION substr(text, bigint, bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, $2::integer, least(greatest($3, 0), 2147483647)::integer)';
CREATE OR REPLACE FUNCTION substr(bytea, integer) RETURNS bytea IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, CASE WHEN $2 < 0 THEN greatest(pg_catalog.length($1) + $2 + 1, 1) ELSE $2 END::integer)';
CREATE OR REPLACE FUNCTION substr(bytea, integer, integer) RETURNS bytea IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, $2::integer, least(greatest($3, 0), 2147483647)::integer)';
CREATE OR REPLACE FUNCTION substr(bytea, bigint) RETURNS bytea IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, CASE WHEN $2 < 0 THEN greatest(pg_catalog.length($1) + $2 + 1, 1) ELSE $2 END::integer)';
CREATE OR REPLACE FUNCTION substr(bytea, bigint, bigint) RETURNS bytea IMMUTABLE LANGUAGE sql AS
  'SELECT pg_catalog.substr($1, $2::integer, least(greatest($3, 0), 2147483647)::integer)';

-- One character an octet, since octets of mail need not be UTF-8. A text has no NUL here.
CREATE OR REPLACE FUNCTION as_text(bytea) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN position(''\x00''::bytea IN $1) = 0 THEN convert_from($1, ''LATIN1'') END';
CREATE OR REPLACE FUNCTION as_text(bigint) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1::text';
CREATE OR REPLACE FUNCTION as_text(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE OR REPLACE FUNCTION as_octets(text) RETURNS bytea IMMUTABLE LANGUAGE sql AS 'SELECT convert_to($1, ''UTF8'')';
CREATE OR REPLACE FUNCTION shift_left(bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT $1 << $2::int';
DO $$ BEGIN
  CREATE OPERATOR << (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = shift_left);
EXCEPTION WHEN duplicate_function THEN NULL; END $$;

-- Elements of a JSON list of integers; with a path those of a list of texts, with objects as their JSON, or the members
-- of an object.
CREATE OR REPLACE FUNCTION json_each(text) RETURNS TABLE (key bigint, value bigint) IMMUTABLE LANGUAGE sql ROWS 20 AS
  'SELECT e.ordinality - 1, (e.value #>> ''{}'')::bigint FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY e';
CREATE OR REPLACE FUNCTION json_each(text, text) RETURNS TABLE (key text, value text) IMMUTABLE LANGUAGE sql ROWS 20 AS $$
  SELECT (e.ordinality - 1)::text, e.value FROM jsonb_path_query_first($1::jsonb, $2::jsonpath) j,
    jsonb_array_elements_text(CASE jsonb_typeof(j) WHEN 'array' THEN j END) WITH ORDINALITY e
  UNION ALL
  SELECT e.key, e.value FROM jsonb_path_query_first($1::jsonb, $2::jsonpath) j,
    jsonb_each_text(CASE jsonb_typeof(j) WHEN 'object' THEN j END) e
$$;

CREATE OR REPLACE FUNCTION json(text) RETURNS json IMMUTABLE LANGUAGE sql AS 'SELECT $1::json';
CREATE OR REPLACE FUNCTION json_array_length(text) RETURNS bigint IMMUTABLE LANGUAGE sql AS
  'SELECT jsonb_array_length($1::jsonb)::bigint';
-- A path may count from the end: $.list[#-1].
CREATE OR REPLACE FUNCTION json_extract(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT jsonb_path_query_first($1::jsonb, replace($2, ''[#-'', ''[last+1-'')::jsonpath) #>> ''{}''';
CREATE OR REPLACE FUNCTION json_member(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT $1::json ->> (CASE WHEN left($2, 2) = ''$.'' THEN substr($2, 3) ELSE $2 END)';
CREATE OR REPLACE FUNCTION json_item(text, integer) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1::json ->> $2';
DO $$ BEGIN
  CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_member);
EXCEPTION WHEN duplicate_function THEN NULL; END $$;
DO $$ BEGIN
  CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = json_item);
EXCEPTION WHEN duplicate_function THEN NULL; END $$;
-- Appends to the list that a path such as $.name[#] names.
CREATE OR REPLACE FUNCTION json_insert(text, text, json) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT jsonb_insert($1::jsonb, string_to_array(replace(replace(replace($2, ''$.'', ''''), ''$'', ''''), ''[#]'', '',-1''), '',''), $3::jsonb, true)::text';

CREATE OR REPLACE FUNCTION json_of_array(anycompatiblearray) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT coalesce(array_to_json($1)::text, ''[]'')';
CREATE OR REPLACE AGGREGATE json_group_array(anycompatible) (
  SFUNC = array_append, STYPE = anycompatiblearray, FINALFUNC = json_of_array, INITCOND = '{}');
CREATE OR REPLACE FUNCTION json_put(jsonb, text, bigint) RETURNS jsonb IMMUTABLE LANGUAGE sql AS
  'SELECT $1 || jsonb_build_object($2, $3)';
CREATE OR REPLACE FUNCTION as_text(jsonb) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1::text';
CREATE OR REPLACE AGGREGATE json_group_object(text, bigint) (SFUNC = json_put, STYPE = jsonb, FINALFUNC = as_text, INITCOND = '{}');

CREATE OR REPLACE FUNCTION joined(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1 || '','', '''') || $2 END';
CREATE OR REPLACE FUNCTION joined(text, text, text) RETURNS text IMMUTABLE LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE coalesce($1 || coalesce($3, ''''), '''') || $2 END';
CREATE OR REPLACE AGGREGATE group_concat(text) (SFUNC = joined, STYPE = text);
CREATE OR REPLACE AGGREGATE group_concat(text, text) (SFUNC = joined, STYPE = text);
