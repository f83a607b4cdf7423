import type { RequiredRecord } from '../domains/records.ts';
import { spfTexts } from '../domains/spf-record.ts';
import { domainReportAddress } from '../reports/report-address.ts';
import { mergeRua, reportRecordKind, withoutRua } from './rua-merge.ts';
import { mergeSpf, withoutMerge } from './spf-merge.ts';
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
  /** Addresses of the settings from which mail leaves; left out: those of the host name. */
  outbound?: readonly string[] | undefined;
  /** Also adds this server to the reports that a DMARC or TLS-RPT record of others asks for; else it is suggested. */
  mergeReports?: boolean;
  /** Wanted CNAMEs whose target answers with our text at the same name; left out: none. Until then the text stays. */
  answering?: ReadonlySet<string>;
}

/**
 * One line of a plan. `create`, `replace` (a record of ours), `merge` (into a record of others), `restore` (what was merged
 * into), `delete` (a record of ours); `keep`, `conflict` and `suggest` (a merge that somebody has to choose) change nothing.
 */
export interface PlanStep {
  action: 'create' | 'replace' | 'merge' | 'restore' | 'delete' | 'keep' | 'conflict' | 'suggest';
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

/** Compares what the domain needs with what is there. Never changes or removes a record of others, but merges into SPF, and into DMARC and TLS-RPT on request. */
export function planChanges(input: PlanInput): PlanStep[] {
  const wanted = input.wanted.map((record): NewEntry & { purpose: WantedRecord['purpose'] } => ({
    type: record.type,
    name: record.name,
    value: record.priority === undefined ? record.value : `${record.priority} ${record.value}`,
    ttl: record.ttl,
    purpose: record.purpose,
  }));
  const steps = wanted.map(({ purpose, ...record }) => {
    if (purpose === 'spf') return spfStep(input, record);
    return purpose === 'dmarc' || purpose === 'tls_reports' ? reportsStep(input, record) : recordStep(input, record);
  });
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
export function planRemoval({ found, written }: Pick<PlanInput, 'found' | 'written'>): PlanStep[] {
  const isMerge = (one: WrittenEntry): boolean => isSpf(one) || one.before !== null;
  const others = written.filter((one) => !isMerge(one)).flatMap((one) => deletion({ found }, one) ?? []);
  const merges = [...Map.groupBy(written.filter(isMerge), ({ name }) => name).values()];
  const restored = merges.flatMap((all) => {
    const exact = all.find((one) => found.some((entry) => isSameEntry(entry, one)));
    const last = exact ?? all.find(({ before }) => before !== null);
    return (last && mergeRemoval({ found }, last)) ?? [];
  });
  return [...others, ...restored];
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

function spfStep(input: PlanInput, planned: NewEntry): PlanStep {
  const record = { ...planned, value: createdSpf(input, planned.value) };
  const same = at(input.found, record);
  const all = same.filter(({ value }) => spfTexts([value]).length > 0);
  const [there, more] = all;
  if (there === undefined || there.value === record.value) return recordStep(input, record);
  if (more !== undefined) {
    const why = 'the domain has several SPF records, so that all are invalid (RFC 7208 3.2): keep one, then try again';
    return { ...head(record), action: 'conflict', before: there.value, why };
  }
  const mine = input.written.find((one) =>
    isSameEntry(one, { type: record.type, name: record.name, value: there.value }),
  );
  if (mine !== undefined && mine.before === null) return recordStep(input, record);
  const merge = mergeSpf(there.value, input, isOwnMx(input));
  switch (merge.kind) {
    case 'authorized':
      return { ...head(record), action: 'keep', value: there.value, before: there.value, why: null };
    case 'impossible':
      return { ...head(record), action: 'conflict', before: there.value, why: merge.why };
    case 'merged':
      return mergeStep(record, { same, there, text: merge.text, origin: mine?.before ?? there });
  }
}

/** A new record names this server, as long as the MX of the domain is another one. */
function createdSpf(input: PlanInput, text: string): string {
  if (input.outbound !== undefined || isOwnMx(input)) return text;
  return text.replace(' mx ', ` mx a:${input.hostname} `);
}

const REPORTS =
  'optional: reports go to this server too; the policy and the addresses of others stay, and disconnecting restores the record';
const FEW_ADDRESSES = 'some reporters send to the first two addresses only';
const REPORTS_ELSEWHERE =
  'another record of this kind is there. Reports could not arrive here while the MX of the domain is another server';

/** A record that asks for reports: one of others is never replaced, but may get our address. */
function reportsStep(input: PlanInput, record: NewEntry): PlanStep {
  const same = at(input.found, record);
  const kind = reportRecordKind(record.value);
  const all = same.filter(({ value }) => reportRecordKind(value) === kind);
  const [there, more] = all;
  if (there === undefined || more !== undefined || there.value === record.value) return recordStep(input, record);
  const mine = input.written.find((one) => isSameEntry(one, { ...record, value: there.value }));
  if (mine !== undefined && mine.before === null) return recordStep(input, record);
  const merge = mergeRua(there.value, domainReportAddress(input.domain));
  const step = { ...head(record), before: there.value };
  switch (merge.kind) {
    case 'present':
      return { ...step, action: 'keep', value: there.value, why: null };
    case 'impossible':
      return { ...step, action: 'conflict', why: merge.why };
    case 'merged': {
      if (!isOwnMx(input)) return { ...step, action: 'conflict', why: REPORTS_ELSEWHERE };
      const why = merge.sure ? REPORTS : `${REPORTS}; ${FEW_ADDRESSES}`;
      if (input.mergeReports !== true) return { ...step, action: 'suggest', value: merge.text, why };
      return { ...mergeStep(record, { same, there, text: merge.text, origin: mine?.before ?? there }), why };
    }
  }
}

function mergeStep(
  record: NewEntry,
  {
    same,
    there,
    text,
    origin,
  }: {
    same: readonly ZoneEntry[];
    there: ZoneEntry;
    text: string;
    /** The record of others, before any merge. */
    origin: Pick<ZoneEntry, 'value' | 'ttl' | 'raw'>;
  },
): PlanStep {
  const merged = { type: record.type, name: record.name, value: text, ttl: there.ttl };
  const { value, ttl, raw } = origin;
  return {
    ...head(merged),
    action: 'merge',
    before: there.value,
    why: 'this server is added to the record that is there; disconnecting restores it',
    change: changeOf(record, same, [there], [merged]),
    writes: { ...entryOf(merged), before: { value, ttl, raw } },
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

function mergeRemoval({ found }: Pick<PlanInput, 'found'>, one: WrittenEntry): PlanStep | undefined {
  const { before } = one;
  if (before === null) return deletion({ found }, one);
  const same = at(found, one);
  const there = same.find(({ value }) => value === one.value);
  if (there !== undefined) return restore({ type: one.type, name: one.name, ...before }, same, there);
  // Changed since: only what this server added goes.
  const left = (value: string): string | undefined =>
    isSpf(one)
      ? withoutMerge(value, { merged: one.value, before: before.value })
      : withoutRua(value, domainReportAddress(one.name.replace(REPORT_NAME, '')));
  const isKind = ({ value }: ZoneEntry): boolean =>
    isSpf(one) ? spfTexts([value]).length > 0 : reportRecordKind(value) === reportRecordKind(one.value);
  const changed = same.find((entry) => isKind(entry) && left(entry.value) !== undefined);
  const text = changed && left(changed.value);
  if (changed === undefined || text === undefined) return undefined;
  return restore({ type: one.type, name: one.name, value: text, ttl: changed.ttl }, same, changed);
}

/** Names of the records that ask for reports. RFC 7489 6.1, RFC 8460 3. */
const REPORT_NAME = /^(?:_dmarc|_smtp\._tls)\./;

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
