import { z } from 'zod';
import {
  addImportJob,
  endImportJob,
  importJob,
  type ImportJobRow,
  listImportJobs,
} from '../../../mail/store/transfer/import-job.ts';
import { canonicalName } from '../../../mail/imap/wire/mailbox-name.ts';
import { networkOf } from '../../../mail/guard/network.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line, nextCursor, Page, pageStart } from '../../core/schemas.ts';
import { type FileSpec, IMPORT_SECRET, type ImapSpec, type ImportSpec } from '../../transfers/import-spec.ts';
import { checkRemoteHost } from '../../transfers/remote-host.ts';
import { signTransferTicket, TRANSFER_LINK_MS } from '../../transfers/transfer-link.ts';
import { oneMailbox } from '../affected-mailboxes.ts';
import { MailboxArguments } from '../mailboxes/shown.ts';
import { allowedAccounts, mailboxOf, type Mailbox } from '../scope.ts';
import { ImportJob, type ShownImport, shownImport } from './shown.ts';

const Remote = z.strictObject({
  host: Line(1, 253),
  port: z.number().int().min(1).max(65535).optional(),
  user: Line(1, 320),
  password: z.string().min(1).max(2_000).optional(),
  accessToken: z.string().min(1).max(10_000).optional(),
});

/** Options of the command line besides those of the tool. */
export const BoxRemote = Remote.extend({
  tls: z.enum(['implicit', 'starttls', 'none']).optional(),
  labels: z.enum(['keywords', 'folders']).default('keywords'),
  deletions: z.boolean().default(false),
  anyCertificate: z.boolean().default(false),
  perSecond: z.number().int().min(0).max(10_000).default(0),
});

export const startImport = operation({
  name: 'start_import',
  title: 'Import mail',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Imports mail from a file (returns a URL to PUT it to) or pulls another server by IMAP; adds only what is new. Poll get_import.',
  hints: { openWorld: true },
  // A pull logs in with words that the caller chooses, at a host that it chooses.
  rule: (call, { imap, ...which }) => (imap === undefined ? undefined : oneMailbox(call, which)),
  writesToStrangers: 'always',
  outgoingTexts: (_call, { imap = {} }) => Object.values(imap).filter((value) => typeof value === 'string'),
  input: z.strictObject({
    ...MailboxArguments,
    imap: z.looseObject({}).describe('host, port, user, and password or accessToken').optional(),
  }),
  // Listed to every agent: a schema of all fields costs 100 tokens.
  output: z.looseObject({}),
  rest: { method: 'POST', path: '/api/email/imports' },
  async run(call, { imap, ...which }) {
    const mailbox = await mailboxOf(call, which);
    if (imap === undefined) return awaitUpload(call, mailbox, { folder: null });
    return {
      import: shownImport(await startPull(call, mailbox, remoteOf(imap), null)),
      putUrl: null,
      expiresAt: null,
    };
  },
});

/** Adds an import that begins when its upload is complete, with the link for it. */
async function awaitUpload(call: Call, mailbox: Mailbox, { folder, fileName }: Pick<FileSpec, 'folder' | 'fileName'>) {
  const spec: FileSpec = { kind: 'file', path: null, name: null, folder, fileName };
  const job = await addJob(call, mailbox, spec, null, 'waiting');
  const expires = call.clock() + TRANSFER_LINK_MS;
  const putUrl = await uploadUrl(call, job, expires);
  return { import: shownImport(job), putUrl, expiresAt: isoOf(expires) };
}

export const startUpload = operation({
  name: 'start_upload',
  title: 'Import an uploaded file',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  // An agent that chooses a folder could pass on what it read by the name.
  peopleOnly: true,
  description: 'Imports mail from a file that is uploaded to a URL, into a folder; adds only what is new.',
  hints: {},
  input: z.strictObject({
    ...MailboxArguments,
    folder: Line(1, 1000).describe('Folder to import into; folders of a zip file go below it').optional(),
    fileName: Line(1, 255).describe('Name of the file, for people').optional(),
  }),
  output: z.object({ import: ImportJob, putUrl: z.string(), expiresAt: z.string() }),
  rest: { method: 'POST', path: '/api/email/uploaded-imports' },
  async run(call, { folder, fileName, ...which }) {
    return awaitUpload(call, await mailboxOf(call, which), { folder: folderOf(folder), fileName });
  },
});

/** The link to PUT the file to. An agent may pass it on: then nobody elsewhere may store mail with it. */
async function uploadUrl(call: Call, { id, account }: ImportJobRow, expires: number): Promise<string> {
  const { actor: credential, token, ip } = call.caller;
  const bound = token !== undefined && (token.narrow !== null || (await callerPolicy(call, [account])).governed);
  const ticket = signTransferTicket(call.secrets, {
    kind: 'import',
    id: String(id),
    organization: call.tenant,
    credential,
    expires,
    ...(bound && { network: networkOf(ip) }),
  });
  return `${call.baseUrl()}/api/email/transfers?ticket=${ticket}`;
}

/** Checks the account of the other server, whose fields the listed schema leaves out. */
function remoteOf(given: object): z.output<typeof Remote> {
  const parsed = Remote.safeParse(given);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const path = ['imap', ...(first?.path ?? [])].join('.');
  return refuse(
    'invalid_arguments',
    `${path}: ${first?.message ?? 'is invalid'}. It needs host, user, and password or accessToken.`,
    {
      issues: [{ path, message: first?.message ?? 'is invalid' }],
    },
  );
}

/** Starts to pull a mailbox of another server. */
export async function startPull(
  call: Call,
  mailbox: Mailbox,
  remote: Partial<z.output<typeof BoxRemote>> & z.output<typeof Remote>,
  below: string | null,
): Promise<ImportJobRow> {
  const { password, accessToken, host, user, labels = 'keywords', deletions = false } = remote;
  const secret = password ?? accessToken;
  if (secret === undefined || (password !== undefined && accessToken !== undefined)) {
    return refuse('invalid_arguments', 'Give either imap.password or imap.accessToken.', {
      issues: [{ path: 'imap', message: 'needs a password or an accessToken' }],
    });
  }
  const { port = remote.tls === undefined || remote.tls === 'implicit' ? 993 : 143 } = remote;
  const { tls = port === 993 ? 'implicit' : 'starttls', anyCertificate = false, perSecond = 0 } = remote;
  const auth = password === undefined ? 'oauth' : 'password';
  const where = { host, port, tls, user, auth, folder: below } as const;
  const spec: ImapSpec = { kind: 'imap', ...where, labels, deletions, anyCertificate, perSecond };
  const checked = await checkRemoteHost(spec, call.settings.allowPrivateNetworks, call.resolver);
  if ('problem' in checked) {
    return refuse('invalid_arguments', `${checked.problem}.`, { issues: [{ path: 'imap', message: checked.problem }] });
  }
  const sealed = call.secrets.seal(...IMPORT_SECRET, call.caller.actor, Buffer.from(secret));
  return addJob(call, mailbox, spec, sealed, 'running');
}

/** Adds a job and starts it unless it waits for an upload. */
export async function addJob(
  call: Call,
  { id: account, address }: Mailbox,
  spec: ImportSpec,
  secret: Uint8Array | null,
  state: 'waiting' | 'running',
): Promise<ImportJobRow> {
  const { tenant, caller } = call;
  const input = {
    tenant,
    account,
    kind: spec.kind,
    spec: JSON.stringify({ ...spec, node: call.settings.node }),
    secret,
    state,
    by: caller.actor,
  };
  const source = spec.kind === 'imap' ? `${spec.user} at ${spec.host}` : (spec.path ?? 'upload');
  const id = await call.change(addImportJob, input, publicId('mailbox', account), { address, source });
  if (id === null) {
    return refuse('conflict', 'Too many imports of this mailbox are open: wait for them, or cancel one.', {
      resource: 'import',
    });
  }
  if (state === 'running') call.transfers.startImport(id);
  return (await call.store.read(importJob, { tenant, id })) ?? notFound('import');
}

/** A folder name of an argument; null: none was given. */
export function folderOf(folder: string | undefined): string | null {
  if (folder === undefined) return null;
  return (
    canonicalName(folder) ??
    refuse('invalid_arguments', `${JSON.stringify(folder)} cannot be the name of a folder.`, {
      issues: [{ path: 'folder', message: 'is no name of a folder' }],
    })
  );
}

const WhichImport = z.strictObject({ importId: Id('import') });

export const getImport = operation({
  name: 'get_import',
  title: 'Get an import',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description: 'Returns the progress, problems and proof of an import. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: WhichImport,
  output: z.looseObject({}),
  rest: { method: 'GET', path: '/api/email/imports/:importId' },
  async run(call, { importId }) {
    const row = await ownImport(call, importId);
    const found = shownImport(row);
    // Names of folders and answers of the other server are its own words: agents get numbers.
    if (call.caller.kind === 'token') return { import: { ...found, folder: null, problem: problemForAgents(found) } };
    const { problem: _, ...report } = JSON.parse(row.report) as { problem?: string };
    return { import: found, untrusted: { folders: [], problems: [], moreProblems: 0, ...report } };
  },
});

function problemForAgents({ problem, endedAt }: Pick<ShownImport, 'problem' | 'endedAt'>): string | null {
  if (problem !== null && endedAt === null) return 'The import waits, and goes on by itself at nextAttemptAt.';
  return problem === null ? null : 'The import ended with a problem: a person sees it on the page Imports.';
}

export const listImports = operation({
  name: 'list_imports',
  title: 'List imports',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description: 'Lists imports, the newest first. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...Page }),
  output: z.object({ imports: z.array(ImportJob), nextCursor }),
  rest: { method: 'GET', path: '/api/email/imports' },
  async run(call, page) {
    const before = pageStart(page) || Number.MAX_SAFE_INTEGER;
    const allowed = await allowedAccounts(call);
    const rows = await call.store.read(listImportJobs, {
      tenant: call.tenant,
      account: null,
      before,
      limit: page.limit + 1,
    });
    const shown = rows.slice(0, page.limit);
    const last = shown.at(-1);
    return {
      imports: shown.filter(({ account }) => allowed === null || allowed.includes(account)).map(shownImport),
      nextCursor: rows.length > page.limit && last !== undefined ? String(last.id) : null,
    };
  },
});

export const cancelImport = operation({
  name: 'cancel_import',
  title: 'Cancel an import',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  description: 'Ends an import and forgets its password; imported mail stays.',
  hints: { idempotent: true },
  input: WhichImport,
  output: z.object({ import: ImportJob }),
  rest: { method: 'DELETE', path: '/api/email/imports/:importId' },
  async run(call, { importId }) {
    const row = await ownImport(call, importId);
    await call.change(endImportJob, { id: row.id, state: 'cancelled' }, importId);
    call.transfers.stopImport(row.id);
    return { import: shownImport(await ownImport(call, importId)) };
  },
});

/** Finds an import of the organization, within the token's limits. */
async function ownImport(call: Call, importId: string): Promise<ImportJobRow> {
  const id = rowId('import', importId) ?? 0;
  const row = await call.store.read(importJob, { tenant: call.tenant, id });
  const allowed = await allowedAccounts(call);
  if (row === undefined || allowed?.includes(row.account) === false) return notFound('import');
  return row;
}
