import {
  type AddressFile,
  type AddressRow,
  MAX_ADDRESS_ROWS,
  parseAddressFile,
  type RefusedRow,
} from '../../mailboxes/address-csv.ts';
import { address, backLink, emptyState, pageHead, table, tag } from '../components.ts';
import { hidden, textArea } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import { type ActionResult, actionForm, formStateFor, type Page } from '../page.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { runOperation, type Visit } from '../visit.ts';
import { addressBook } from './address-book.ts';

/** Mailboxes and aliases from a CSV file: first a preview, then they are created row by row. */
export const addressImport: Page = {
  path: '/mailboxes/import',
  name: 'Import addresses',
  translated: true,
  menu: null,
  needs: 'provision_email',
  notices: {},
  calls: () => [
    { name: 'provision_email', arguments: { localPart: 'anna', domain: 'example.com', displayName: 'Anna' } },
    { name: 'create_alias', arguments: { mailboxIds: ['mbx_1'], localPart: 'sales', domain: 'example.com' } },
  ],
  actions: {
    preview: async (visit, fields) => {
      const csv = fields.text('csv');
      const file = parseAddressFile(csv, (await addressBook(visit)).known);
      if (file.rows.length + file.refused.length === 0) return empty(translatorOf(visit.request), csv);
      return { kind: 'shown', panel: preview(visit, csv, file) };
    },
    create: async (visit, fields) => {
      const csv = fields.text('csv');
      const file = parseAddressFile(csv, (await addressBook(visit)).known);
      return file.rows.length + file.refused.length === 0
        ? empty(translatorOf(visit.request), csv)
        : { kind: 'shown', panel: await createAll(visit, file) };
    },
  },
  show(visit, state) {
    const t = translatorOf(visit.request);
    const hint = t('csv.hint', { most: MAX_ADDRESS_ROWS });
    const area = {
      name: 'csv',
      label: 'CSV',
      hint,
      placeholder: 'anna@example.com,Anna Berg\ninfo@example.com,,anna@example.com',
    };
    const body = [chooser(t), textArea(area, formStateFor(state, 'preview'))];
    return Promise.resolve(
      html`${backLink(`${visit.base}/mailboxes`, t('page.Mailboxes'))}
      ${pageHead(t('page.Import addresses'), t('csv.about'))} ${actionForm(visit, 'preview', t('csv.preview'), body)}`,
    );
  },
};

function empty(t: Translator, csv: string): ActionResult {
  return { kind: 'refused', form: { values: { csv }, errors: {}, problem: t('csv.empty') } };
}

/** Reads a file into the text field; shown by the script that does it. */
function chooser(t: Translator): Html {
  return html`<div hidden>
    <label for="csv-file">${t('csv.file')}</label>
    <input type="file" id="csv-file" accept=".csv,text/csv,text/plain" data-into="csv" />
  </div>`;
}

function preview(visit: Visit, csv: string, { rows, refused }: AddressFile): Html {
  const mailboxes = rows.filter(({ aliasOf }) => aliasOf === undefined).length;
  const t = translatorOf(visit.request);
  const title = t('csv.preview-title', {
    mailboxes: t('csv.mailboxes', { count: mailboxes }),
    aliases: t('csv.aliases', { count: rows.length - mailboxes }),
    refused: t('csv.refused-count', { count: refused.length }),
  });
  return html`<section class="preview" role="status">
    <h2>${title}</h2>
    ${rows.length > 0 && previewTable(t, rows)}
    ${refusedTable(
      t,
      refused.map((one) => leftOut(t, one)),
    )}
    ${rows.length > 0 && actionForm(visit, 'create', t('csv.create', { count: rows.length }), hidden('csv', csv))}
  </section>`;
}

function previewTable(t: Translator, rows: readonly AddressRow[]): Html {
  const headings = [t('csv.line'), t('devices.address'), t('account.name'), t('find.action')];
  return table(
    t('csv.to-create'),
    headings,
    rows.map((row) => previewRow(t, row)),
    t,
  );
}

function previewRow(t: Translator, { line, address: text, name, aliasOf }: AddressRow): HtmlPart[] {
  const action =
    aliasOf === undefined
      ? tag(t('mailboxes.create'), 'ok')
      : t.rich('csv.alias-of', { action: tag(t('alias.create-button'), 'ok'), address: address(aliasOf) });
  return [line, address(text), name ?? '', action];
}

/** A row that was not created, with the reason in the language of the page. */
interface LeftOutRow {
  readonly line: number;
  readonly text: string;
  readonly reason: HtmlPart;
}

function leftOut(t: Translator, { line, text, problem, value }: RefusedRow): LeftOutRow {
  return { line, text, reason: t(`csv-row.${problem}`, { value }) };
}

function refusedTable(t: Translator, refused: readonly LeftOutRow[]): HtmlPart {
  return (
    refused.length > 0 &&
    html`<h3>${t('csv.refused-rows')}</h3>
      ${table(
        t('csv.refused-rows'),
        [t('csv.line'), t('approval.text'), t('approvals.reason')],
        refused.map(({ line, text, reason }) => [line, text, [tag(t('csv.refused'), 'bad'), ' ', reason]]),
        t,
      )}`
  );
}

/** Creates row by row, mailboxes before the aliases that may point to them: what fails does not stop the others. */
async function createAll(visit: Visit, { rows, refused }: AddressFile): Promise<Html> {
  const t = translatorOf(visit.request);
  const failed: LeftOutRow[] = [];
  const created: AddressRow[] = [];
  const ordered = rows.toSorted((a, b) => Number(a.aliasOf !== undefined) - Number(b.aliasOf !== undefined));
  const { ids } = await addressBook(visit);
  for (const row of ordered) {
    const reason = await createRow(visit, row, ids);
    if (reason === undefined) created.push(row);
    else failed.push({ line: row.line, text: row.address, reason: t.english(reason) });
  }
  const all = [...refused.map((one) => leftOut(t, one)), ...failed].toSorted((a, b) => a.line - b.line);
  return html`<section class="preview" role="status">
    <h2>${t('csv.created-count', { count: created.length })}, ${t('csv.refused-count', { count: all.length })}</h2>
    ${
      created.length === 0
        ? emptyState(t('csv.nothing'), t('csv.nothing-text'))
        : table(
            t('csv.created'),
            [t('csv.line'), t('devices.address')],
            created.map(({ line, address: text }) => [line, address(text)]),
            t,
          )
    }
    ${refusedTable(t, all)}
    <p><a href="${visit.base}/mailboxes">${t('csv.all')}</a></p>
  </section>`;
}

/** Undefined if created, else the reason. Adds a new mailbox to `ids`. */
async function createRow(visit: Visit, row: AddressRow, ids: Map<string, string>): Promise<string | undefined> {
  const { localPart, domain, name, aliasOf } = row;
  const common = { localPart, domain };
  const done =
    aliasOf === undefined
      ? await runOperation(visit, 'provision_email', { ...common, ...(name !== undefined && { displayName: name }) })
      : await runOperation(visit, 'create_alias', {
          ...common,
          mailboxIds: [ids.get(aliasOf) ?? ''],
          ...(name !== undefined && { note: name }),
        });
  if (done.kind === 'refused') return done.refusal.message;
  const { mailbox } = done.result as { mailbox?: { id: string } };
  if (mailbox !== undefined) ids.set(row.address, mailbox.id);
  return undefined;
}
