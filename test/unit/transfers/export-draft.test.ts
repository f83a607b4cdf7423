import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDraft, draftOf, finishDraft, removeDraft } from '../../../mail/transfer/export-draft.ts';
import { DirectoryTarget, ZipTarget } from '../../../mail/transfer/export-target.ts';

const FOREIGN = /exists and may be somebody's\. Delete it if an interrupted export left it, or choose another target\./;

let directory: string;
let target: string;
let draft: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'export-draft-'));
  target = join(directory, 'out');
  draft = draftOf(target);
});
afterEach(() => rmSync(directory, { recursive: true }));

async function* text(content: string): AsyncGenerator<string> {
  yield content;
}

test('what an interrupted export left is replaced, and a complete export has no marker', async () => {
  const interrupted = await DirectoryTarget.create(target);
  await interrupted.file('old.eml', text('x'), 0);
  const again = await DirectoryTarget.create(target);
  await again.file('new.eml', text('y'), 0);
  await again.finish();
  expect(readdirSync(directory)).toEqual(['out']);
  expect(readdirSync(target)).toEqual(['new.eml']);
});

test('a directory of somebody else with the name of the draft stays, and the export says so', async () => {
  mkdirSync(draft);
  writeFileSync(join(draft, 'thesis.txt'), 'years of work');
  await expect(DirectoryTarget.create(target)).rejects.toThrow(FOREIGN);
  await expect(removeDraft(draft)).rejects.toThrow(FOREIGN);
  expect(readFileSync(join(draft, 'thesis.txt'), 'utf8')).toBe('years of work');
});

test('a complete export that somebody renamed stays, and so does what a link leads to', async () => {
  await createDraft(draft);
  await finishDraft(draft, target);
  writeFileSync(join(target, 'mail'), 'x');
  symlinkSync(target, draft);
  await expect(removeDraft(draft)).rejects.toThrow(FOREIGN);
  await expect(removeDraft(target)).rejects.toThrow(FOREIGN);
  expect(existsSync(join(target, 'mail'))).toBe(true);
});

test('a crash before the marker leaves an empty directory, which goes', async () => {
  mkdirSync(draft);
  await removeDraft(draft);
  expect(existsSync(draft)).toBe(false);
});

test('an archive does not overwrite the file that has the name of its draft', async () => {
  const zip = `${target}.zip`;
  writeFileSync(draftOf(zip), 'of somebody');
  await expect(ZipTarget.create(zip)).rejects.toThrow(FOREIGN);
  expect(readFileSync(draftOf(zip), 'utf8')).toBe('of somebody');
  rmSync(draftOf(zip));
  const archive = await ZipTarget.create(zip);
  await archive.file('a.eml', text('x'), 0);
  await archive.finish();
  expect(readdirSync(directory)).toEqual(['out.zip']);
});
