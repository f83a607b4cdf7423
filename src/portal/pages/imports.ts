import type { exportMailbox } from '../../operations/transfers/exports.ts';
import type { getImport, listImports } from '../../operations/transfers/imports.ts';
import type { ShownImport } from '../../operations/transfers/shown.ts';
import { bytes, emptyState, liveSection, pageHead, progressBar, secret, table, tag, timestamp } from '../components.ts';
import { field } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { actionButton, collapsedForm, formStateFor, operationAction, type Page, type PageState } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { mailUploadForms, createUpload } from './mail-upload.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const LOOKS: Readonly<Record<ShownImport['state'], 'ok' | 'warn' | 'bad' | ''>> = {
  waiting: '',
  running: 'warn',
  done: 'ok',
  failed: 'bad',
  cancelled: '',
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
  translated: true,
  menu: 'Mail',
  needs: 'list_imports',
  notices: { started: { message: 'import.started' }, cancelled: { message: 'import.cancelled' } },
  actions: {
    pull: operationAction('start_import', 'started', (fields) => ({
      address: fields.line('address'),
      imap: { host: fields.line('host'), user: fields.line('user'), password: fields.text('password') },
    })),
    upload: createUpload,
    take: operationAction(
      'export_mailbox',
      (result, { request }) => {
        const { url } = result as OutputOf<typeof exportMailbox>;
        const t = translatorOf(request);
        return { kind: 'shown', panel: secret(t('export.panel'), [['URL', url]], t('export.once')) };
      },
      (fields) => ({ address: fields.line('from') }),
    ),
    cancel: operationAction('cancel_import', 'cancelled', ['importId']),
  },
  async show(visit, state) {
    const listed = await readOperation<typeof listImports>(visit, 'list_imports', { limit: 50 });
    if (listed === undefined) return undefined;
    const all = listed.imports as unknown as ShownImport[];
    const t = translatorOf(visit.request);
    const reports = await Promise.all(all.slice(0, 5).map((one) => report(t, visit, one)));
    const none = emptyState(t('import.none'), t('import.none-text'));
    const present = all.length === 0 ? none : [list(t, visit, all), ...reports];
    const changes = all.some((one) => one.endedAt === null);
    const head = pageHead(t('page.Imports'), t('import.about'));
    return [head, liveSection('imports', changes, present, t), forms(t, visit, state)];
  },
};

function list(t: Translator, visit: Visit, all: readonly ShownImport[]): Html {
  const headings = [t('import.source'), t('domains.status'), t('import.imported'), t('import.known')];
  return table(
    t('page.Imports'),
    [...headings, t('import.skipped'), t('import.started-at'), ''],
    all.map((one) => [
      one.source,
      stateOf(t, one),
      [importedOf(t, one), one.bytes > 0 && `, ${bytes(one.bytes, t)}`, progressOf(t, one)],
      String(one.known),
      String(one.skipped),
      timestamp(one.createdAt, t),
      one.endedAt === null && actionButton(visit, 'cancel', t('import.cancel'), { importId: one.importId }),
    ]),
    t,
  );
}

function stateOf(t: Translator, { state, problem, nextAttemptAt }: ShownImport): HtmlPart {
  const word = nextAttemptAt === null ? t(`import-state.${state}`) : t('import-state.deferred');
  return [
    tag(word, LOOKS[state]),
    problem !== null && html` ${t.english(problem)}`,
    nextAttemptAt !== null && html` ${t.rich('import.next-attempt', { time: timestamp(nextAttemptAt, t) })}`,
  ];
}

function importedOf(t: Translator, { imported, total }: ShownImport): string {
  if (total === null) return String(imported);
  return t('import.of', { imported: String(imported), total: String(total) });
}

/** Messages that were dealt with, while an import runs whose messages are counted. */
function progressOf(t: Translator, { source, endedAt, total, imported, known, skipped }: ShownImport): HtmlPart {
  if (endedAt !== null || total === null || total === 0) return undefined;
  return progressBar(t('import.progress', { source }), imported + known + skipped, total);
}

/** Problems and proof of an ended import. */
async function report(t: Translator, visit: Visit, one: ShownImport): Promise<HtmlPart> {
  if (one.endedAt === null) return undefined;
  const found = await readOperation<typeof getImport>(visit, 'get_import', { importId: one.importId });
  const { problems = [], proof } = (found?.untrusted ?? {}) as ReportOfImport;
  if (problems.length === 0 && proof === undefined) return undefined;
  return html`<section>
    <h2>${one.source}</h2>
    ${proof !== undefined && html`<p>${verdict(t, proof)}</p>`} ${proof !== undefined && proofTable(t, proof.folders)}
    <ul>
      ${proof?.omitted?.map(({ problem, count, folders }) => problemLine(t, omittedText(t, folders, count), `${problem}.`))}
      ${problems.slice(0, 50).map(({ place, problem }) => problemLine(t, place, problem))}
      ${proof?.differences.slice(0, 50).map(({ folder, uid, problem }) => problemLine(t, `${folder}, UID ${uid}`, problem))}
    </ul>
  </section>`;
}

function problemLine(t: Translator, place: string, problem: string): Html {
  return html`<li>${place}: ${t.english(problem)}</li>`;
}

function verdict(t: Translator, { equal, omitted = [] }: NonNullable<ReportOfImport['proof']>): string {
  if (omitted.length > 0) return t('proof.incomplete');
  return t(equal ? 'proof.is-equal' : 'proof.differs');
}

function omittedText(t: Translator, names: readonly string[], count: number): string {
  const more = count > names.length ? [t('proof.more', { number: String(count - names.length) })] : [];
  return t('proof.omitted', { count, names: [...names, ...more].join(', ') });
}

function proofTable(t: Translator, folders: NonNullable<ReportOfImport['proof']>['folders']): Html {
  const headings = [t('proof.folder-there'), t('proof.folder-here'), t('proof.there'), t('proof.here')];
  return table(
    t('proof.title'),
    [...headings, t('proof.title')],
    folders.map((one) => [
      one.source,
      one.folder,
      String(one.there),
      String(one.here),
      [
        one.equal ? tag(t('proof.equal'), 'ok') : tag(t('proof.different'), 'bad'),
        one.changedHere !== undefined &&
          one.changedHere > 0 &&
          html` ${t('proof.changed-here', { number: String(one.changedHere) })}`,
      ],
    ]),
    t,
  );
}

function forms(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const mailbox = { name: 'from', label: t('account.mailbox'), placeholder: 'ann@example.org' };
  return [
    isAllowed(visit, 'start_import') &&
      collapsedForm(visit, state, 'pull', t('import.pull-title'), t('import.pull'), pullFields(t, state)),
    isAllowed(visit, 'start_upload') && mailUploadForms(t, visit, state),
    isAllowed(visit, 'export_mailbox') &&
      collapsedForm(visit, state, 'take', t('export.title'), t('export.button'), [
        field(mailbox, formStateFor(state, 'take')),
      ]),
  ];
}

function pullFields(t: Translator, state: PageState): HtmlPart {
  const pull = formStateFor(state, 'pull');
  const mailbox = { label: t('import.mailbox-here'), placeholder: 'ann@example.org', id: 'pull-address' };
  const password = { label: t('import.app-password'), hint: t('import.password-hint') };
  return [
    field({ name: 'address', ...mailbox }, pull),
    field({ name: 'host', label: t('import.server'), placeholder: 'imap.example.net' }, pull),
    field({ name: 'user', label: t('access.user-name'), autocomplete: 'off' }, pull),
    field({ name: 'password', type: 'password', autocomplete: 'new-password', ...password }, pull),
  ];
}
