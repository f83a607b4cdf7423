import { describe, expect, test } from 'vitest';
import { csvFields, csvLine } from '../../../src/core/csv.ts';
import { MAX_ADDRESS_ROWS, parseAddressFile } from '../../../src/mailboxes/address-csv.ts';

describe('a line of CSV', () => {
  test.each([
    ['a,b,c', ['a', 'b', 'c']],
    ['a,"b, ""c""",', ['a', 'b, "c"', '']],
    ['""', ['']],
    ['', ['']],
    ['"open', undefined],
    ['"a"b', undefined],
  ])('%j has the fields of RFC 4180', (line, fields) => {
    expect(csvFields(line)).toEqual(fields);
  });

  test('of a file for spreadsheets runs no formula, and is read back', () => {
    expect(csvLine(['=1+1', 'a"b', '@x'])).toBe(`"'=1+1","a""b","'@x"\r\n`);
    expect(csvFields(csvLine(['a"b', 'c, d', '']).trimEnd())).toEqual(['a"b', 'c, d', '']);
  });
});

describe('a file of addresses', () => {
  const known = {
    domains: new Set(['acme.test']),
    mailboxes: new Set(['anna@acme.test']),
    aliases: new Set(['info@acme.test']),
  };
  const reasons = (text: string) =>
    parseAddressFile(text, known).refused.map(({ line, problem, value }) => [line, problem, value]);

  test('has mailboxes and aliases, also of mailboxes of the same file', () => {
    const file =
      '\uFEFFaddress,name,alias of\r\n# people\r\nBert@Acme.test,"Bert, Jr."\r\nhi@acme.test,,bert@acme.test\r\n\r\n';
    expect(parseAddressFile(file, known)).toMatchObject({
      refused: [],
      rows: [
        { line: 3, address: 'bert@acme.test', name: 'Bert, Jr.', aliasOf: undefined },
        { line: 4, address: 'hi@acme.test', name: undefined, aliasOf: 'bert@acme.test' },
      ],
    });
  });

  test.each([
    ['nobody', 'address', 'nobody'],
    ['a@other.test', 'domain', 'other.test'],
    ['ANNA@acme.test', 'mailbox', ''],
    ['info@acme.test', 'alias', ''],
    ['x@acme.test,,gone@acme.test', 'target', 'gone@acme.test'],
    ['x@acme.test,y,z,4', 'fields', ''],
    ['x@acme.test,"open', 'quote', ''],
    [`x@acme.test,${'y'.repeat(2000)}`, 'long', '1000'],
  ])('refuses %s with the reason and its line', (line, problem, value) => {
    expect(reasons(`ok@acme.test\n${line}`)).toEqual([[2, problem, value]]);
  });

  test('refuses the second of two same addresses, and rows over the limit', () => {
    expect(reasons('x@acme.test\nX@acme.test')).toEqual([[2, 'twice', '']]);
    const many = Array.from({ length: MAX_ADDRESS_ROWS + 2 }, (_, i) => `a${i}@acme.test`).join('\n');
    const { rows, refused } = parseAddressFile(many, known);
    expect([rows.length, refused.length]).toEqual([MAX_ADDRESS_ROWS, 2]);
  });
});
