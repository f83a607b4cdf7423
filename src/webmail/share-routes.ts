import type { FastifyInstance } from 'fastify';
import {
  ACCESS_RIGHTS,
  accessOf,
  GRANTABLE_RIGHTS,
  grantMailbox,
  grantsOfAccount,
} from '../../mail/store/mailbox/acl.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { jmapId, jmapRow } from '../../mail/store/object-id.ts';
import type { AppContext } from '../core/app-context.ts';
import { isOwnPage } from '../http/own-page.ts';
import { Fields } from '../portal/form-fields.ts';
import { auditedByReader } from './audited.ts';
import { type MailReader, personOf, type ReaderRefusal, sendReaderProblem, sendJson } from './mail-reader.ts';

/**
 * Routes by which a person shares folders of their own mailbox with others of the organization: `GET /mail/shares`, and a form
 * that sets or ends one share. Nobody shares the folder of somebody else.
 */
export function shareRoutes(context: AppContext, app: FastifyInstance): void {
  app.get('/mail/shares', async (request, reply) => {
    if (!isOwnPage(context, request)) return sendReaderProblem(reply, 403, 'Open web mail on this site.');
    const reader = await personOf(context, request, reply);
    return reader === undefined ? reply : sendJson(reply, await sharesOf(context, reader));
  });
  app.post('/mail/shares', async (request, reply) => {
    const reader = await personOf(context, request, reply, true);
    if (reader === undefined) return reply;
    const refused = await setShare(context, reader, new Fields(request.body));
    if (refused !== undefined) return sendReaderProblem(reply, ...refused);
    return sendJson(reply, await sharesOf(context, reader));
  });
}

async function sharesOf({ store }: AppContext, { account }: MailReader): Promise<object> {
  const rows = await store.read(grantsOfAccount, { account });
  const shares = rows.map(({ mailbox, address, rights }) => ({
    folder: jmapId('mailbox', mailbox),
    address,
    access: accessOf(rights),
    rights,
  }));
  return { shares };
}

/** Gives another mailbox access to a folder, or ends it. Returns the refusal. */
async function setShare(context: AppContext, reader: MailReader, fields: Fields): Promise<ReaderRefusal | undefined> {
  const { account } = reader;
  const mailbox = jmapRow('mailbox', account, fields.text('folder'));
  const found = (await context.store.read(listMailboxes, { account })).find(({ id }) => id === mailbox);
  if (mailbox === undefined || found === undefined) return REFUSALS.missing;
  const access = fields.text('access');
  const rights = rightsOf(access, fields.text('rights'));
  if (rights === undefined) return NO_ACCESS;
  const address = fields.text('address').trim();
  const input = { account, mailbox, address, how: 'set' as const, rights };
  const detail = { folder: found.name, with: address, access, ...(access === 'custom' && { rights }) };
  const { kind } = await auditedByReader(context, reader, {
    command: grantMailbox,
    input,
    operation: 'share_folder',
    detail,
  });
  return kind === 'set' ? undefined : REFUSALS[kind];
}

const LETTERS = new RegExp(`^[${GRANTABLE_RIGHTS}]{1,${GRANTABLE_RIGHTS.length}}$`);

/** Rights of an access; those of `custom` are given. They come back so after an undo. */
function rightsOf(access: string, given: string): string | undefined {
  if (access === 'custom') return LETTERS.test(given) ? given : undefined;
  const known = Object.entries(ACCESS_RIGHTS).find(([name]) => name === access);
  return known?.[1];
}

const NO_ACCESS: ReaderRefusal = [422, 'Choose what they may do.', 'no-access'];
const REFUSALS = {
  missing: [404, 'There is no such folder.', 'no-folder'],
  'unknown-address': [
    422,
    'No other mailbox of your organization has this address, or it is frozen.',
    'unknown-address',
  ],
  'not-allowed': [403, 'You may not share this folder.', 'not-allowed'],
  'too-many': [
    409,
    'Limit reached: too many shares of this folder or with this mailbox. End some first.',
    'too-many-shares',
  ],
} as const satisfies Record<string, ReaderRefusal>;
