import type { exportMailbox } from '../../operations/transfers/exports.ts';
import type { getImport, listImports } from '../../operations/transfers/imports.ts';
import type { ShownImport } from '../../operations/transfers/shown.ts';
import { bytes, emptyState, liveSection, pageHead, progressBar, secret, table, tag, timestamp } from '../components.ts';
import { field } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionButton, collapsedForm, formStateFor, operationAction, type Page, type PageState } from '../page.ts';
import { mailUploadForms, createUpload } from './mail-upload.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const LOOKS: Readonly<Record<string, 'ok' | 'warn' | 'bad' | ''>> = { done: 'ok', failed: 'bad', running: 'warn' };
const STATES: Readonly<Record<string, string>> = {
  waiting: 'Waiting for upload',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

interface ReportOfImport {
  problems?: { place: string; problem: string }[];
  proof?: {
    equal: boolean;
    omitted?: { problem: string; count: number; folders: string[] }[];
    folders: { source: string; folder: string; there: number; here: number; changedHere?: number; equal: boolean }[];
    differences: { folder: string; uid: number; problem: string }[];
  };
}

export const imports: Page = {
  path: '/imports',
  name: 'Imports',
  menu: 'Mail',
  needs: 'list_imports',
  notices: { started: 'Import started.', cancelled: 'Import cancelled. Imported mail stays.' },
  actions: {
    pull: operationAction('start_import', 'started', (fields) => ({
      address: fields.line('address'),
      imap: { host: fields.line('host'), user: fields.line('user'), password: fields.text('password') },
    })),
    upload: createUpload,
    take: operationAction(
      'export_mailbox',
      (result) => {
        const { url } = result as OutputOf<typeof exportMailbox>;
        const about = 'Valid for a day. The export takes a while: until it is done, the URL says how far it is.';
        return { kind: 'shown', panel: secret('Download', [['URL', url]], about) };
      },
      (fields) => ({ address: fields.line('from') }),
    ),
    cancel: operationAction('cancel_import', 'cancelled', ['importId']),
  },
  async show(visit, state) {
    const listed = await readOperation<typeof listImports>(visit, 'list_imports', { limit: 50 });
    if (listed === undefined) return undefined;
    const all = listed.imports as unknown as ShownImport[];
    const about = 'Mail imported from another server or from files. Running an import again adds only new mail.';
    const reports = await Promise.all(all.slice(0, 5).map((one) => report(visit, one)));
    const present = all.length === 0 ? NONE : [list(visit, all), ...reports];
    const changes = all.some((one) => one.endedAt === null);
    return [pageHead('Imports', about), liveSection('imports', changes, present), forms(visit, state)];
  },
};

const NONE = emptyState('No imports', 'Pull a mailbox of another server, or upload an mbox, EML or zip file.');

function list(visit: Visit, all: readonly ShownImport[]): Html {
  return table(
    'Imports',
    ['Source', 'Status', 'Imported', 'Known', 'Skipped', 'Started', ''],
    all.map((one) => [
      one.source,
      [
        tag(one.nextAttemptAt === null ? (STATES[one.state] ?? one.state) : 'Deferred', LOOKS[one.state] ?? ''),
        one.problem !== null && html` ${one.problem}`,
        one.nextAttemptAt !== null && html` Next attempt: ${timestamp(one.nextAttemptAt)}.`,
      ],
      [
        String(one.imported),
        one.total !== null && ` of ${one.total}`,
        one.bytes > 0 && `, ${bytes(one.bytes)}`,
        progressOf(one),
      ],
      String(one.known),
      String(one.skipped),
      timestamp(one.createdAt),
      one.endedAt === null && actionButton(visit, 'cancel', 'Cancel', { importId: one.importId }),
    ]),
  );
}

/** Messages that were dealt with, while an import runs whose messages are counted. */
function progressOf({ source, endedAt, total, imported, known, skipped }: ShownImport): HtmlPart {
  if (endedAt !== null || total === null || total === 0) return undefined;
  return progressBar(`Progress of ${source}`, imported + known + skipped, total);
}

/** Problems and proof of an ended import. */
async function report(visit: Visit, one: ShownImport): Promise<HtmlPart> {
  if (one.endedAt === null) return undefined;
  const found = await readOperation<typeof getImport>(visit, 'get_import', { importId: one.importId });
  const { problems = [], proof } = (found?.untrusted ?? {}) as ReportOfImport;
  if (problems.length === 0 && proof === undefined) return undefined;
  return html`<section>
    <h2>${one.source}</h2>
    ${proof !== undefined && html`<p>${verdict(proof)}</p>`} ${proof !== undefined && proofTable(proof.folders)}
    <ul>
      ${proof?.omitted?.map(({ problem, count, folders }) => html`<li>${omittedText(folders, count)}: ${problem}.</li>`)}
      ${problems.slice(0, 50).map(({ place, problem }) => html`<li>${place}: ${problem}</li>`)}
      ${proof?.differences.slice(0, 50).map(({ folder, uid, problem }) => html`<li>${folder}, UID ${uid}: ${problem}</li>`)}
    </ul>
  </section>`;
}

function verdict({ equal, omitted = [] }: NonNullable<ReportOfImport['proof']>): string {
  if (omitted.length > 0) return 'Proof: incomplete, not equal. Folders of the other server were not pulled.';
  return equal ? 'Proof: both sides are equal.' : 'Proof: the sides differ.';
}

function omittedText(names: readonly string[], count: number): string {
  const more = count > names.length ? [`${count - names.length} more`] : [];
  return `${count} ${count === 1 ? 'folder' : 'folders'} not pulled (${[...names, ...more].join(', ')})`;
}

function proofTable(folders: NonNullable<ReportOfImport['proof']>['folders']): Html {
  return table(
    'Proof',
    ['Folder there', 'Folder here', 'There', 'Here', 'Proof'],
    folders.map((one) => [
      one.source,
      one.folder,
      String(one.there),
      String(one.here),
      [
        one.equal ? tag('Equal', 'ok') : tag('Different', 'bad'),
        one.changedHere !== undefined && one.changedHere > 0 && ` ${one.changedHere} changed here since`,
      ],
    ]),
  );
}

function forms(visit: Visit, state: PageState): HtmlPart {
  const [pull, take] = ['pull', 'take'].map((act) => formStateFor(state, act));
  return [
    isAllowed(visit, 'start_import') &&
      collapsedForm(visit, state, 'pull', 'Pull from another server', 'Pull', [
        field({ name: 'address', label: 'Mailbox here', placeholder: 'ann@example.org', id: 'pull-address' }, pull),
        field({ name: 'host', label: 'IMAP server', placeholder: 'imap.example.net' }, pull),
        field({ name: 'user', label: 'User name', autocomplete: 'off' }, pull),
        field(
          {
            name: 'password',
            label: 'App password',
            type: 'password',
            autocomplete: 'new-password',
            hint: 'Stored encrypted until the import ends.',
          },
          pull,
        ),
      ]),
    isAllowed(visit, 'start_upload') && mailUploadForms(visit, state),
    isAllowed(visit, 'export_mailbox') &&
      collapsedForm(visit, state, 'take', 'Export a mailbox', 'Export', [
        field({ name: 'from', label: 'Mailbox', placeholder: 'ann@example.org' }, take),
      ]),
  ];
}
