import { expect, test } from 'vitest';
import { outsideAmongInside } from '../../../src/webmail/client/outside.ts';

const OWN = ['me@box.test', 'sales@Shop.test'];

test.each([
  ['nobody yet', ['', '', ''], []],
  ['colleagues only', ['ann@box.test, bert@SHOP.test'], []],
  ['outsiders only', ['ada@example.test', 'eve@elsewhere.test'], []],
  ['an outsider among colleagues', ['ann@box.test', 'Ada <ada@example.test>'], ['ada@example.test']],
  ['an outsider twice', ['ann@box.test, ada@example.test', 'ada@example.test'], ['ada@example.test']],
  ['a domain that only ends like ours', ['ann@box.test, eve@notbox.test'], ['eve@notbox.test']],
  ['a text that is no address', ['ann@box.test, somebody'], []],
])('%s', (_name, fields, outside) => {
  expect(outsideAmongInside(fields, OWN)).toEqual(outside);
});
