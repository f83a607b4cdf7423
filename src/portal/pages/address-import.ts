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
import { callOperation, type Visit } from '../visit.ts';
import { addressBook } from './address-book.ts';

/** Mailboxes and aliases from a CSV file: first a preview, then they are created row by row. */
export const addressImport: Page = {
  path: '/mailboxes/import',
  name: 'Import addresses',
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
      if (file.rows.length + file.refused.length === 0) return empty(csv);
      return { kind: 'shown', panel: preview(visit, csv, file) };
    },
    create: async (visit, fields) => {
      const csv = fields.text('csv');
      const file = parseAddressFile(csv, (await addressBook(visit)).known);
      return file.rows.length + file.refused.length === 0
        ? empty(csv)
        : { kind: 'shown', panel: await createAll(visit, file) };
    },
  },
  show(visit, state) {
    const hint = `One line each: address,name,alias of. With a third field the address becomes an alias of that mailbox. At most ${MAX_ADDRESS_ROWS} rows.`;
    const area = {
      name: 'csv',
      label: 'CSV',
      hint,
      placeholder: 'anna@example.com,Anna Berg\ninfo@example.com,,anna@example.com',
    };
    const body = [chooser(), textArea(area, formStateFor(state, 'preview'))];
    return Promise.resolve(
      html`${backLink(`${visit.base}/mailboxes`, 'Mailboxes')}
      ${pageHead('Import addresses', 'Creates mailboxes and aliases from a CSV file. You see what will happen before anything is created.')}
      ${actionForm(visit, 'preview', 'Preview', body)}`,
    );
  },
};

function empty(csv: string): ActionResult {
  const problem = 'No changes made: the file has no rows. Give at least one line with an address.';
  return { kind: 'refused', form: { values: { csv }, errors: {}, problem } };
}

/** Reads a file into the text field; shown by the script that does it. */
function chooser(): Html {
  return html`<div hidden>
    <label for="csv-file">CSV file</label>
    <input type="file" id="csv-file" accept=".csv,text/csv,text/plain" data-into="csv" />
  </div>`;
}

function preview(visit: Visit, csv: string, { rows, refused }: AddressFile): Html {
  const mailboxes = rows.filter(({ aliasOf }) => aliasOf === undefined).length;
  const counts = `${counted(mailboxes, 'mailbox', 'mailboxes')} and ${counted(rows.length - mailboxes, 'alias', 'aliases')}`;
  return html`<section class="preview" role="status">
    <h2>Preview: ${counts} to create, ${counted(refused.length, 'row', 'rows')} refused</h2>
    ${rows.length > 0 && table('Rows to create', ['Line', 'Address', 'Name', 'Action'], rows.map(previewRow))}
    ${refusedTable(refused)}
    ${rows.length > 0 && actionForm(visit, 'create', `Create ${counted(rows.length, 'address', 'addresses')}`, hidden('csv', csv))}
  </section>`;
}

function counted(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

function previewRow({ line, address: text, name, aliasOf }: AddressRow): HtmlPart[] {
  const action =
    aliasOf === undefined ? tag('Create mailbox', 'ok') : [tag('Create alias', 'ok'), ' of ', address(aliasOf)];
  return [line, address(text), name ?? '', action];
}

function refusedTable(refused: readonly RefusedRow[]): HtmlPart {
  return (
    refused.length > 0 &&
    html`<h3>Refused rows</h3>
      ${table(
        'Refused rows',
        ['Line', 'Text', 'Reason'],
        refused.map(({ line, text, reason }) => [line, text, [tag('Refused', 'bad'), ' ', reason]]),
      )}`
  );
}

/** Creates row by row, mailboxes before the aliases that may point to them: what fails does not stop the others. */
async function createAll(visit: Visit, { rows, refused }: AddressFile): Promise<Html> {
  const failed: RefusedRow[] = [];
  const created: AddressRow[] = [];
  const ordered = rows.toSorted((a, b) => Number(a.aliasOf !== undefined) - Number(b.aliasOf !== undefined));
  const { ids } = await addressBook(visit);
  for (const row of ordered) {
    const reason = await createRow(visit, row, ids);
    if (reason === undefined) created.push(row);
    else failed.push({ line: row.line, text: row.address, reason });
  }
  const all = [...refused, ...failed].toSorted((a, b) => a.line - b.line);
  return html`<section class="preview" role="status">
    <h2>${counted(created.length, 'address', 'addresses')} created, ${counted(all.length, 'row', 'rows')} refused</h2>
    ${
      created.length === 0
        ? emptyState('Nothing was created', 'The reasons are below.')
        : table(
            'Created',
            ['Line', 'Address'],
            created.map(({ line, address: text }) => [line, address(text)]),
          )
    }
    ${refusedTable(all)}
    <p><a href="${visit.base}/mailboxes">All mailboxes</a></p>
  </section>`;
}

/** Undefined if created, else the reason. Adds a new mailbox to `ids`. */
async function createRow(visit: Visit, row: AddressRow, ids: Map<string, string>): Promise<string | undefined> {
  const { localPart, domain, name, aliasOf } = row;
  const common = { localPart, domain };
  const done =
    aliasOf === undefined
      ? await callOperation(visit, 'provision_email', { ...common, ...(name !== undefined && { displayName: name }) })
      : await callOperation(visit, 'create_alias', {
          ...common,
          mailboxIds: [ids.get(aliasOf) ?? ''],
          ...(name !== undefined && { note: name }),
        });
  if (done.kind === 'refused') return done.refusal.message;
  const { mailbox } = done.result as { mailbox?: { id: string } };
  if (mailbox !== undefined) ids.set(row.address, mailbox.id);
  return undefined;
}
