import { z } from 'zod';
import { type AuditFilter, type AuditLine, firstBrokenAuditRow, listAudit, searchAudit } from '../../audit/queries.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { firstFitting, pageBudget, sizeOf } from '../../untrusted/result-budget.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line, nextCursor, Page } from '../../core/schemas.ts';

/** Characters of a digest with its name. */
const HASH = 80;

/** Operations hidden from agents: an agent that reads about canaries knows how to avoid them. */
const UNTOLD: ReadonlySet<string> = new Set(['plant_canary', 'remove_canary', 'settle_canary', 'trip_canary']);

const Filter = {
  actor: Line(1, 320).describe('Id, or part of the name').optional(),
  operation: Line(1, 64).describe('Name of the tool').optional(),
  target: Line(1, 320).describe('Part of the target').optional(),
  since: z.iso.datetime().describe('Since (UTC)').optional(),
  before: z.iso.datetime().describe('Before (UTC)').optional(),
};

export const listAuditEvents = operation({
  name: 'list_audit_events',
  title: 'Read the audit log',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  description:
    'Lists who did what in this organization, newest first: token or person, operation, target, outcome, network address, time. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({
    ...Page,
    ...Filter,
    verify: z.boolean().default(false).describe('Check that no row was changed or removed'),
  }),
  output: z.object({
    events: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        actor: z.string(),
        actorName: z.string(),
        way: z.string(),
        ip: z.string(),
        operation: z.string(),
        target: z.string(),
        outcome: z.string(),
        detail: z.record(z.string(), z.unknown()),
        /** With verify: the hash that chains this row to all before it. */
        sha256: z.string().optional(),
      }),
    ),
    nextCursor,
    chain: z.object({ intact: z.boolean(), firstBroken: z.string().nullable() }).optional(),
  }),
  async run(call, { cursor, limit, verify, ...wanted }) {
    const { store, tenant, caller } = call;
    const before = cursor === undefined ? null : rowId('audit', cursor);
    if (before === undefined) {
      refuse('invalid_arguments', 'cursor is invalid: use the nextCursor of list_audit_events.', {
        issues: [{ path: 'cursor', message: 'unknown' }],
      });
    }
    const rows = await matchingRows(call, { organization: tenant, before, limit: limit + 1 }, wanted);
    const page = firstFitting(rows.slice(0, limit), pageBudget(limit), (row) => sizeOf({ ...row, hash: '' }) + HASH);
    const last = page.at(-1);
    const broken = verify ? await store.scan(firstBrokenAuditRow, { organization: tenant }) : undefined;
    return {
      events: page
        .filter(({ operation: of }) => caller.kind !== 'token' || !UNTOLD.has(of))
        .map(({ id, at, organization: _own, hash, ...row }) => ({
          ...row,
          id: publicId('audit', id),
          at: isoOf(at),
          detail: { ...row.detail },
          ...(verify && { sha256: Buffer.from(hash).toString('hex') }),
        })),
      nextCursor: rows.length > page.length && last !== undefined ? publicId('audit', last.id) : null,
      ...(verify && {
        chain: { intact: broken === undefined, firstBroken: broken === undefined ? null : publicId('audit', broken) },
      }),
    };
  },
});

type AuditPage = Parameters<(typeof listAudit)['run']>[1];

/** The newest rows come from an index; conditions may need the whole log, which is read beside other queries. */
function matchingRows(
  { store }: Call,
  page: AuditPage,
  { actor, operation: name, target, since, before }: { [key in keyof typeof Filter]?: string | undefined },
): Promise<AuditLine[]> {
  const wanted = [actor, name, target, since, before];
  if (wanted.every((one) => one === undefined)) return store.read(listAudit, page);
  const filter: AuditFilter = {
    actor: actor ?? null,
    operation: name ?? null,
    target: target ?? null,
    since: since === undefined ? null : Date.parse(since),
    before: before === undefined ? null : Date.parse(before),
  };
  return store.scan(searchAudit, { ...page, filter });
}
