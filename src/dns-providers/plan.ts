import type { RequiredRecord } from '../domains/records.ts';
import { spfTexts } from '../domains/spf-record.ts';
import { mergeSpf, withoutTerm } from './spf-merge.ts';
import { isSameEntry, type NewEntry, type OwnedType, type RecordSetChange, type ZoneEntry } from './zone-entry.ts';

/** A record that this server wrote. */
export interface WrittenEntry {
  type: OwnedType;
  name: string;
  value: string;
  /** Record of others that it replaced (SPF), as it was. */
  before: { value: string; ttl: number; raw: string } | null;
}

/** A record that shall be there: one of the domain, or a TLSA record of the host (RFC 6698). */
export type WantedRecord = RequiredRecord | TlsaWanted;

interface TlsaWanted {
  purpose: 'dane';
  type: 'TLSA';
  name: string;
  value: string;
  priority?: undefined;
  ttl: number;
}

export interface PlanInput {
  wanted: readonly WantedRecord[];
  /** Certificate authority that CAA records have to allow; undefined: none is known. */
  authority: string | undefined;
  found: readonly ZoneEntry[];
  written: readonly WrittenEntry[];
  domain: string;
  hostname: string;
  /** Wanted CNAMEs whose target answers with our text at the same name; left out: none. Until then the text stays. */
  answering?: ReadonlySet<string>;
}

/**
 * One line of a plan. `create`, `replace` (a record of ours), `merge` (into a record of others), `restore` (what was merged
 * into), `delete` (a record of ours); `keep` and `conflict` change nothing.
 */
export interface PlanStep {
  action: 'create' | 'replace' | 'merge' | 'restore' | 'delete' | 'keep' | 'conflict';
  type: OwnedType;
  name: string;
  /** Value after the step; null: none. */
  value: string | null;
  /** Value before the step, or the one in conflict. */
  before: string | null;
  why: string | null;
  change?: RecordSetChange;
  /** Stored before the change is made. */
  writes?: WrittenEntry;
}

/** Records that may stand beside a CNAME. RFC 4034 3, RFC 4035 2.5. */
const BESIDE_CNAME = new Set(['RRSIG', 'NSEC', 'NSEC3', 'DNSKEY']);

/** Compares what the domain needs with what is there. Never changes or removes a record of others, but merges into SPF. */
export function planChanges(input: PlanInput): PlanStep[] {
  const wanted = input.wanted.map((record): NewEntry & { purpose: WantedRecord['purpose'] } => ({
    type: record.type,
    name: record.name,
    value: record.priority === undefined ? record.value : `${record.priority} ${record.value}`,
    ttl: record.ttl,
    purpose: record.purpose,
  }));
  const steps = wanted.map(({ purpose, ...record }) =>
    purpose === 'spf' ? spfStep(input, record) : recordStep(input, record),
  );
  const handled = steps.flatMap(({ change }) => change?.remove ?? []);
  const aliases = steps.filter(({ type }) => type === 'CNAME');
  const stale = input.written.filter((one) => {
    const needed = wanted.some((record) => isSameEntry(record, one));
    const separate = one.type === 'CAA' || one.before !== null || isSpf(one);
    // A key that an alias cannot replace yet stays: without either, signatures fail.
    const stays = aliases.some(({ name, action }) => name === one.name && action === 'conflict');
    return !needed && !separate && !stays && !handled.some((entry) => isSameEntry(entry, one));
  });
  const deletions = stale.flatMap((one) => deletion(input, one) ?? []);
  return [...inOrder(steps, deletions), ...caaSteps(input)];
}

/** Deletes directly before the step that creates a record of another type at the name, and everything else at the end. */
function inOrder(steps: readonly PlanStep[], deletions: readonly PlanStep[]): PlanStep[] {
  const replaces = (step: PlanStep, old: PlanStep): boolean => step.action === 'create' && step.name === old.name;
  const rest = deletions.filter((old) => !steps.some((step) => replaces(step, old)));
  return [...steps.flatMap((step) => [...deletions.filter((old) => replaces(step, old)), step]), ...rest];
}

/** Takes back what this server wrote, and nothing that was changed since. */
export function planRemoval({
  found,
  written,
  hostname,
}: Pick<PlanInput, 'found' | 'written' | 'hostname'>): PlanStep[] {
  const spf = written.filter(isSpf);
  const exact = spf.find((one) => found.some((entry) => isSameEntry(entry, one)));
  const last = exact ?? spf.find(({ before }) => before !== null);
  const others = written.filter((one) => !isSpf(one)).flatMap((one) => deletion({ found }, one) ?? []);
  const step = last && spfRemoval({ found, hostname }, last);
  return step === undefined ? others : [...others, step];
}

function recordStep(input: PlanInput, record: NewEntry): PlanStep {
  const same = at(input.found, record);
  const equal = same.find((entry) => isEqual(entry, record));
  if (equal !== undefined) return { ...head(record), action: 'keep', before: equal.value, why: null };
  const rival = rivalOf(input, record, same);
  if (rival !== undefined) return conflict(record, rival);
  const text = waitingText(input, record);
  if (text !== undefined)
    return { ...head(record), action: 'conflict', before: `TXT ${text.value}`, why: NOT_ANSWERED };
  const ours = same.filter((entry) => isWritten(input, entry) && isRival(entry, record));
  const change = changeOf(record, same, ours, [record]);
  const writes: WrittenEntry = { type: record.type, name: record.name, value: record.value, before: null };
  const before = ours[0]?.value ?? null;
  return { ...head(record), action: ours.length > 0 ? 'replace' : 'create', before, why: null, change, writes };
}

/** Another preference of our MX is as good. */
function isEqual(entry: ZoneEntry, record: NewEntry): boolean {
  if (record.type !== 'MX') return entry.value === record.value;
  return entry.value.split(' ')[1] === record.value.split(' ')[1];
}

const NOT_ANSWERED =
  'the target does not answer with this key yet: delegate the zone of the keys to this server; the text stays until then';

/** A text of ours that an alias shall replace, while the target of the alias does not answer with it. */
function waitingText(input: PlanInput, record: NewEntry): ZoneEntry | undefined {
  if (record.type !== 'CNAME' || input.answering?.has(record.name) === true) return undefined;
  return input.found.find((entry) => entry.name === record.name && entry.type === 'TXT' && isWritten(input, entry));
}

/** A record of others that this one cannot stand beside. */
function rivalOf(input: PlanInput, record: NewEntry, same: readonly ZoneEntry[]): ZoneEntry | undefined {
  const atName = input.found.filter(({ name }) => name === record.name);
  const alias =
    record.type === 'CNAME'
      ? atName.find((entry) => entry.type !== 'CNAME' && !BESIDE_CNAME.has(entry.type) && !isWritten(input, entry))
      : atName.find((entry) => entry.type === 'CNAME' && !isWritten(input, entry));
  return alias ?? same.find((entry) => !isWritten(input, entry) && isRival(entry, record));
}

/** Texts with another tag, such as the proof of another service, are no rivals, and a name may have many TLSA records. */
function isRival(entry: ZoneEntry, record: NewEntry): boolean {
  if (record.type === 'TLSA') return false;
  return record.type !== 'TXT' || tagOf(entry.value) === tagOf(record.value);
}

function tagOf(text: string): string {
  const first = text.trimStart().slice(0, 20).toLowerCase();
  return /^(?:v=\w+|[kp]=)/.exec(first)?.[0].replace(/^[kp]=$/, 'v=dkim1') ?? first;
}

const CONFLICTS: Readonly<Record<OwnedType, string>> = {
  MX: 'mail of this domain goes to another server: delete its MX when you want to receive here',
  TXT: 'another record of this kind is there, written by somebody else: delete it, or keep it and ignore this line',
  CNAME: 'the name has records that somebody else wrote: delete them, or keep them and ignore this line',
  SRV: 'another server offers this service: delete its record when this server shall',
  TLSA: 'a record of another kind is there, written by somebody else: delete it to use DANE',
  CAA: 'the domain forbids all certificates: delete this record to allow them',
};

function conflict(record: NewEntry, rival: ZoneEntry): PlanStep {
  const before = rival.type === record.type ? rival.value : `${rival.type} ${rival.value}`;
  const why = rival.type === record.type ? CONFLICTS[record.type] : CONFLICTS.CNAME;
  return { ...head(record), action: 'conflict', before, why };
}

function spfStep(input: PlanInput, record: NewEntry): PlanStep {
  const same = at(input.found, record);
  const all = same.filter(({ value }) => spfTexts([value]).length > 0);
  const [there, more] = all;
  if (there === undefined || there.value === record.value) return recordStep(input, record);
  if (more !== undefined) {
    const why = 'the domain has several SPF records, so that all are invalid (RFC 7208 3.2): keep one, then try again';
    return { ...head(record), action: 'conflict', before: there.value, why };
  }
  const merge = mergeSpf(there.value, input.hostname, isOwnMx(input));
  switch (merge.kind) {
    case 'authorized':
      return { ...head(record), action: 'keep', value: there.value, before: there.value, why: null };
    case 'impossible':
      return { ...head(record), action: 'conflict', before: there.value, why: merge.why };
    case 'merged':
      return mergeStep(record, { same, there, text: merge.text });
  }
}

function mergeStep(
  record: NewEntry,
  { same, there, text }: { same: readonly ZoneEntry[]; there: ZoneEntry; text: string },
): PlanStep {
  const merged = { type: record.type, name: record.name, value: text, ttl: there.ttl };
  return {
    ...head(merged),
    action: 'merge',
    before: there.value,
    why: 'this server is added to the record that is there; disconnecting restores it',
    change: changeOf(record, same, [there], [merged]),
    writes: { ...entryOf(merged), before: { value: there.value, ttl: there.ttl, raw: there.raw } },
  };
}

function isOwnMx({ found, domain, hostname }: PlanInput): boolean {
  return found.every(({ type, name, value }) => type !== 'MX' || name !== domain || value.endsWith(` ${hostname}`));
}

/** Adds our authority where CAA records limit who may issue; without any, everybody may. RFC 8659 3. */
function caaSteps(input: PlanInput): PlanStep[] {
  const { authority, domain, found } = input;
  const same = found.filter(({ type, name }) => type === 'CAA' && name === domain);
  const issuers = same.filter(({ value }) => / issue "/.test(value));
  if (authority === undefined || issuers.length === 0) return [];
  const record: NewEntry = { type: 'CAA', name: domain, value: `0 issue "${authority}"`, ttl: issuers[0]?.ttl ?? 3600 };
  const allowed = issuers.find(({ value }) => issuerOf(value) === authority);
  if (allowed !== undefined) return [{ ...head(record), action: 'keep', before: allowed.value, why: null }];
  const none = issuers.find(({ value }) => issuerOf(value) === '');
  if (none !== undefined) return [conflict(record, none)];
  const change = changeOf(record, same, [], [record]);
  return [
    {
      ...head(record),
      action: 'create',
      before: null,
      why: null,
      change,
      writes: { ...entryOf(record), before: null },
    },
  ];
}

/** Name of the authority, without parameters. RFC 8659 4.2. */
const issuerOf = (value: string): string => (value.split('"')[1] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function spfRemoval(
  { found, hostname }: Pick<PlanInput, 'found' | 'hostname'>,
  one: WrittenEntry,
): PlanStep | undefined {
  if (one.before === null) return deletion({ found }, one);
  const same = at(found, one);
  const there = same.find(({ value }) => value === one.value);
  if (there !== undefined) return restore({ type: one.type, name: one.name, ...one.before }, same, there);
  // Changed since: only our term goes.
  const changed = same.find(({ value }) => spfTexts([value]).length > 0 && withoutTerm(value, hostname) !== undefined);
  const text = changed && withoutTerm(changed.value, hostname);
  if (changed === undefined || text === undefined) return undefined;
  return restore({ type: one.type, name: one.name, value: text, ttl: changed.ttl }, same, changed);
}

function restore(record: NewEntry, same: readonly ZoneEntry[], there: ZoneEntry): PlanStep {
  const change = changeOf(record, same, [there], [record]);
  return { ...head(record), action: 'restore', before: there.value, why: null, change };
}

/** Undefined if the record is not there any more, or was changed. */
function deletion({ found }: Pick<PlanInput, 'found'>, one: WrittenEntry): PlanStep | undefined {
  const same = at(found, one);
  const there = same.filter(({ value }) => value === one.value);
  if (there.length === 0) return undefined;
  const change = changeOf(one, same, there, []);
  return { ...head(one), action: 'delete', value: null, before: one.value, why: null, change };
}

function changeOf(
  { type, name }: Pick<NewEntry, 'type' | 'name'>,
  same: readonly ZoneEntry[],
  remove: readonly ZoneEntry[],
  add: readonly NewEntry[],
): RecordSetChange {
  return { type, name, remove, add, keep: same.filter((entry) => !remove.includes(entry)) };
}

const at = (found: readonly ZoneEntry[], { type, name }: Pick<NewEntry, 'type' | 'name'>): ZoneEntry[] =>
  found.filter((entry) => entry.type === type && entry.name === name);

const isWritten = ({ written }: Pick<PlanInput, 'written'>, entry: ZoneEntry): boolean =>
  written.some((one) => isSameEntry(one, entry));

const isSpf = ({ type, value }: Pick<WrittenEntry, 'type' | 'value'>): boolean =>
  type === 'TXT' && spfTexts([value]).length > 0;

const head = ({ type, name, value }: Pick<NewEntry, 'type' | 'name' | 'value'>) => ({ type, name, value });
const entryOf = head;

/** Entries that a finished step removed and that were ours. */
export function removedBy({ change, writes }: PlanStep): Pick<WrittenEntry, 'type' | 'name' | 'value'>[] {
  const removed = change?.remove ?? [];
  return removed
    .filter((entry) => writes === undefined || !isSameEntry(entry, writes))
    .map(({ name, value }) => ({ type: change?.type ?? 'TXT', name, value }));
}
