import { z } from 'zod';
import { type IdKind, idPattern } from './ids.ts';
import { refuse } from './refusal.ts';
import type { Call } from './operation.ts';

/** Names of ids in the descriptions of arguments. */
const ID_NAMES: Readonly<Partial<Record<IdKind, string>>> = {
  organization: 'Organization id',
  project: 'Project id',
  user: 'User id',
  token: 'Token id',
  recoveryKey: 'Recovery key id',
  domain: 'Domain id',
  mailbox: 'Mailbox id',
  credential: 'App password id',
  service: 'Service id',
  apiKey: 'API key id',
  forwarder: 'Forward id',
  alias: 'Alias id',
  senderRule: 'Sender rule id',
  queue: 'Queue id',
  route: 'Route id',
  sent: 'Id of a sent message',
  webhook: 'Webhook id',
  template: 'Template id',
  outbox: 'Outbox id',
  policy: 'Agent policy id',
  proposal: 'Proposal id',
  canary: 'Canary id',
  import: 'Import id',
};

/** Public ids, such as `mbx_12`. Every argument of a tool has a description; `about` replaces the name of the kind. */
export const Id = (kind: IdKind, about: string = ID_NAMES[kind] ?? `${kind} id`) =>
  z
    .string()
    .regex(idPattern(kind), `must look like ${idPattern(kind).source.slice(1, 5)}12`)
    .describe(about);

/** The caller's own organization: every operation accepts it. */
export const OwnOrganization = Id('organization', 'Default: yours').optional();

/** The project of something new. */
export const InProject = Id('project', 'Default: the first project').optional();

/** Limits a list to one project. */
export const OfProject = Id('project', 'Only this project').optional();

/** Single-line text: no control characters, no line separators, no lone surrogates. */
export const Line = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine(isPlainLine, 'must be one line without control characters')
    .transform((text) => text.normalize('NFC'));

export const DomainName = Line(1, 253).describe('Domain name');

/** A time argument: RFC 3339 with any offset. */
export const Time = (about: string) => z.iso.datetime({ offset: true }).describe(`${about} (RFC 3339)`);

export const ExpiresAt = Time('Expiry').optional();

/** Page size of a list. */
export const PageSize = (max: number, size: number) =>
  z.number().int().min(1).max(max).default(size).describe('Page size');

/** Formats ms UTC as RFC 3339. */
export const isoOf = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoOf(ms));

export function isPlainLine(text: string): boolean {
  return !/[\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(text) && text.isWellFormed();
}

/** Description of every `cursor`. */
export const CURSOR = 'nextCursor of the previous page';

/** Arguments of paged lists. */
export const Page = {
  cursor: z
    .string()
    .regex(/^(?:[a-z]{3}_)?\d{1,15}$/, 'must be the nextCursor of a list')
    .describe(CURSOR)
    .optional(),
  limit: PageSize(100, 25),
};

export const nextCursor = z.string().nullable();

/** Parses the id after which a page begins. */
export function pageStart({ cursor }: { cursor?: string | undefined }): number {
  const after = cursor === undefined ? 0 : Number(/^[1-9]\d{0,14}$/.exec(cursor)?.[0]);
  if (Number.isNaN(after)) {
    refuse('invalid_arguments', 'cursor is invalid: use the nextCursor of this list.', {
      issues: [{ path: 'cursor', message: 'unknown' }],
    });
  }
  return after;
}

/** Cuts a page out of rows in ascending order of `id`. */
export function pageOf<T extends { id: number }>(
  rows: readonly T[],
  page: { cursor?: string | undefined; limit: number },
): { rows: T[]; nextCursor: string | null } {
  const { limit } = page;
  const after = pageStart(page);
  const rest = rows.filter((row) => row.id > after);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, nextCursor: rest.length > limit && last !== undefined ? String(last.id) : null };
}

/** Text beside a secret that is shown once. */
export const SECRET_NOTICE = 'Shown once, never again: store it where only its user can read it.';

export const Organization = z.object({ id: z.string(), slug: z.string(), name: z.string() });

/** Parses `expiresAt` as ms UTC; null if it never expires. Refuses a time in the past. */
export function expiryOf({ clock }: Pick<Call, 'clock'>, expiresAt: string | undefined): number | null {
  if (expiresAt === undefined) return null;
  const at = Date.parse(expiresAt);
  if (at > clock()) return at;
  return refuse('invalid_arguments', 'expiresAt is in the past: give a later time.', {
    issues: [{ path: 'expiresAt', message: 'is past' }],
  });
}
