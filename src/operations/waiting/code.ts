import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import { isLoopback } from '../../../mail/guard/network.ts';
import { noteExposure, rowsOf } from '../../reading/exposure.ts';
import { WITHHELD } from '../../reading/withheld.ts';
import { MsgSummary } from '../../reading/shown.ts';
import { summaries } from '../../reading/summary.ts';
import { numberBefore, numberOf } from '../../waiting/arrival-queries.ts';
import { type Place, placeAfter } from '../../waiting/cursor.ts';
import { noteShownSecret } from '../../sending/shown-secrets.ts';
import { type SignUp, signUpIn } from '../../waiting/signed-up.ts';
import { type Call, operation } from '../operation.ts';
import { ShownLink } from '../reading/shown-message.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import type { Mailbox } from '../scope.ts';
import { looker, placeNamed, Since, Timeout } from './email.ts';
import { waitFor } from './pause.ts';

/** Without a cursor mail counts that came so long ago: the site may have been quicker than the question. */
const LOOK_BACK_MS = 10 * 60_000;
/** Messages of one look; of several codes the last one holds. */
const MOST = 20;

type Given = SignUp & { kind: 'given' };

export const waitForCode = operation({
  name: 'wait_for_code',
  title: 'Wait for a code or a link',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  untrusted: true,
  streams: true,
  description:
    'Waits for the code or link of a sign-up in mail that DMARC proves to be of expectFrom; the last 10 minutes count. For a new code pass the cursor on as since. resolve_link opens the handle. Changes nothing.',
  hints: { readOnly: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    expectFrom: Line(3, 253).describe('domain of the site'),
    since: Since,
    timeoutSeconds: Timeout,
    kind: z.enum(['any', 'code', 'link']).default('any'),
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
    withheld: z.enum(['unauthenticated_sender', ...WITHHELD]).optional(),
    message: MsgSummary.nullable(),
    cursor: z.string(),
  }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/code', query: { timeout: 'timeoutSeconds' } },
  async run(call, { mailbox, expectFrom, since, timeoutSeconds, kind }) {
    const box = await namedMailbox(call, mailbox);
    const domain = siteOf(expectFrom);
    const place = since === undefined ? await recently(call, box) : await placeNamed(call, box, since);
    const withheld = new Map<number, SignUp & { kind: 'withheld' }>();
    const given = new Map<number, Given>();
    const others = new Set<number>();
    const { look, seen } = looker(call, box, place, {
      limit: MOST,
      async fits({ known }) {
        const { id } = known.row;
        if (others.has(id) || withheld.has(id)) return false;
        // Taking texts apart is work on the thread that everybody shares.
        await turn();
        const found = await signUpIn(call, box, known, { domain, kind, local: isLocal(call) });
        if (found === undefined) others.add(id);
        else if (found.kind === 'withheld') withheld.set(id, found);
        else given.set(id, found);
        return found?.kind === 'given';
      },
    });
    const { over } = await waitFor(call, box.id, timeoutSeconds, look);
    const last = [...given.values()].at(-1);
    const kept = last === undefined ? [...withheld.values()].at(-1) : undefined;
    if (last !== undefined) await noteShown(call, last);
    const shown = (last ?? kept)?.known.row.id;
    const ids = shown === undefined ? [] : [shown];
    await noteExposure(call, rowsOf(ids));
    const [message = null] = await summaries(call, box, ids);
    const told = [...given.keys(), ...ids].map(numberOf);
    return {
      matched: last !== undefined,
      timedOut: over && last === undefined,
      code: last?.code ?? null,
      link: last?.link ?? null,
      confidence: last?.confidence ?? null,
      sender: last?.by ?? null,
      ...(kept !== undefined && { withheld: kept.why }),
      message,
      cursor: call.waits.cursors.write(placeAfter(place, told, seen())),
    };
  },
});

/** The domain that a site is known by. */
function siteOf(expectFrom: string): string {
  const domain = parseDomain(expectFrom.replace(/^https?:\/\/|^.*@/i, '').replace(/^www\.|[/:].*$/gi, ''));
  if (domain !== undefined && domain.includes('.') && !domain.startsWith('[')) return domain;
  return refuse('invalid_arguments', 'expectFrom is the domain that the mail is expected from, such as shop.example.', {
    issues: [{ path: 'expectFrom', message: 'is no domain' }],
  });
}

async function recently(call: Call, box: Mailbox): Promise<Place> {
  const now = await placeNamed(call, box, undefined);
  const done = await call.store.read(numberBefore, { account: box.id, at: call.clock() - LOOK_BACK_MS });
  return done === undefined ? now : { ...now, done };
}

/** In local mode no name server is asked, and nobody but this machine can deliver. */
function isLocal({ settings }: Call): boolean {
  return !settings.live && settings.listen.every(isLoopback);
}

/** What an agent was given here does not leave in its mail. */
async function noteShown(call: Call, { code, url }: Given): Promise<void> {
  if (code !== null) await noteShownSecret(call, { kind: 'code', text: code });
  if (url !== null) await noteShownSecret(call, { kind: 'link', text: url });
}
