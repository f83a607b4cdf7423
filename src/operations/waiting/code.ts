import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { isLoopback } from '../../../mail/guard/network.ts';
import { recordTaint, taintRows } from '../../reading/read-record.ts';
import { QUARANTINE_REASONS } from '../../reading/quarantine.ts';
import { MsgSummary } from '../../reading/summary-schema.ts';
import { summaries } from '../../reading/summary.ts';
import { numberBefore, numberOf } from '../../waiting/arrival-queries.ts';
import { advancePosition } from '../../waiting/cursor.ts';
import { noteShownSecret } from '../../agents/shown-secrets.ts';
import { type SignUpResult, readSignUp } from '../../waiting/sign-up-message.ts';
import { type Call, operation } from '../../core/operation.ts';
import { ShownLink } from '../reading/shown-message.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import type { Mailbox } from '../scope.ts';
import { looker, placeNamed, Since, Timeout } from './email.ts';
import { waitFor } from './pause.ts';
import type { MailboxPosition } from '../../core/mail-waits.ts';

/** Without a cursor, mail of this period counts too: the site may have sent before the call. */
const LOOK_BACK_MS = 10 * 60_000;
/** Messages checked at once; the newest code wins. */
const MAX_MESSAGES = 20;

type Given = SignUpResult & { kind: 'given' };

export const waitForCode = operation({
  name: 'wait_for_code',
  title: 'Wait for a code or link',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  untrusted: true,
  streams: true,
  description:
    'Waits for the sign-up code or link in mail that DMARC proves to be from expectFrom; the last 10 minutes count. For a new code pass the cursor as since. resolve_link opens the handle. Changes nothing.',
  hints: { readOnly: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    expectFrom: Line(3, 253).describe('Domain of the site'),
    since: Since.describe('Cursor of the previous call'),
    timeoutSeconds: Timeout,
    kind: z.enum(['any', 'code', 'link']).default('any').describe('What to wait for'),
  }),
  output: z.object({
    matched: z.boolean(),
    timedOut: z.boolean(),
    code: z.string().nullable(),
    link: ShownLink.nullable(),
    confidence: z.enum(['high', 'medium', 'low']).nullable(),
    sender: z
      .enum(['dmarc', 'local'])
      .nullable()
      .describe('local: local mode believes what this machine sends; live, DMARC has to pass'),
    withheld: z.enum(['unauthenticated_sender', ...QUARANTINE_REASONS]).optional(),
    message: MsgSummary.nullable(),
    cursor: z.string(),
  }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/code', query: { timeout: 'timeoutSeconds' } },
  async run(call, { mailbox, expectFrom, since, timeoutSeconds, kind }) {
    const box = await namedMailbox(call, mailbox);
    const domain = siteOf(expectFrom);
    const place = since === undefined ? await recently(call, box) : await placeNamed(call, box, since);
    const quarantined = new Map<number, SignUpResult & { kind: 'quarantined' }>();
    const given = new Map<number, Given>();
    const others = new Set<number>();
    const { look, seen } = looker(call, box, place, {
      limit: MAX_MESSAGES,
      async fits({ known }) {
        const { id } = known.row;
        if (others.has(id) || quarantined.has(id)) return false;
        // Parsing texts uses the shared thread.
        await yieldToEventLoop();
        const found = await readSignUp(call, box, known, { domain, kind, local: isLocal(call) });
        if (found === undefined) others.add(id);
        else if (found.kind === 'quarantined') quarantined.set(id, found);
        else given.set(id, found);
        return found?.kind === 'given';
      },
    });
    const { over } = await waitFor(call, box.id, timeoutSeconds, look);
    const last = [...given.values()].at(-1);
    const kept = last === undefined ? [...quarantined.values()].at(-1) : undefined;
    if (last !== undefined) await recordShownSecrets(call, last);
    const shown = (last ?? kept)?.known.row.id;
    const ids = shown === undefined ? [] : [shown];
    await recordTaint(call, taintRows(ids));
    const [message = null] = await summaries(call, box, ids);
    const reported = [...given.keys(), ...ids].map(numberOf);
    return {
      matched: last !== undefined,
      timedOut: over && last === undefined,
      code: last?.code ?? null,
      link: last?.link ?? null,
      confidence: last?.confidence ?? null,
      sender: last?.by ?? null,
      ...(kept !== undefined && { withheld: kept.why }),
      message,
      cursor: call.waits.cursors.write(advancePosition(place, reported, seen())),
    };
  },
});

/** Returns the organizational domain of a site. */
function siteOf(expectFrom: string): string {
  const domain = parseDomain(expectFrom.replace(/^https?:\/\/|^.*@/i, '').replace(/^www\.|[/:].*$/gi, ''));
  if (domain !== undefined && domain.includes('.') && !domain.startsWith('[')) return domain;
  return refuse(
    'invalid_arguments',
    'expectFrom must be the domain that the mail is expected from, such as shop.example.',
    {
      issues: [{ path: 'expectFrom', message: 'is not a domain name' }],
    },
  );
}

async function recently(call: Call, box: Mailbox): Promise<MailboxPosition> {
  const now = await placeNamed(call, box, undefined);
  const done = await call.store.read(numberBefore, { account: box.id, at: call.clock() - LOOK_BACK_MS });
  return done === undefined ? now : { ...now, done };
}

/** In local mode DNS is not queried, and only this machine can deliver. */
function isLocal({ settings }: Call): boolean {
  return !settings.live && settings.listen.every(isLoopback);
}

/** Records the code, so that it cannot leave in the agent's mail. */
async function recordShownSecrets(call: Call, { code, url }: Given): Promise<void> {
  if (code !== null) await noteShownSecret(call, { kind: 'code', text: code });
  if (url !== null) await noteShownSecret(call, { kind: 'link', text: url });
}
