import { describe, expect, test } from 'vitest';
import type { FolderStay } from '../../../src/trace/copy-queries.ts';
import { folderMoves } from '../../../src/trace/folder-moves.ts';

const ARRIVED = 1_000;

function stay(folder: string, since: number | null, until: number | null, email = 1): FolderStay {
  return { email, account: 2, address: 'anna@acme.test', folder, role: null, flags: 0, since, until };
}

const shown = (stays: readonly FolderStay[]): string[] =>
  folderMoves(stays, ARRIVED).map(({ at, kind, from, to }) => `${at} ${kind} ${from}>${to}`);

describe('changes of folders', () => {
  test('the delivery is none', () => {
    expect(shown([stay('INBOX', ARRIVED, null)])).toEqual([]);
  });

  test('a copy that left one folder when it reached another was moved', () => {
    expect(shown([stay('INBOX', null, 2_000), stay('Trash', 2_000, null)])).toEqual(['2000 moved INBOX>Trash']);
  });

  test('a copy that left a folder and reached none was deleted', () => {
    expect(shown([stay('INBOX', null, 3_000)])).toEqual(['3000 deleted INBOX>']);
  });

  test('a copy that reached a folder and left none was copied', () => {
    expect(shown([stay('INBOX', ARRIVED, null), stay('Archive', 4_000, null)])).toEqual(['4000 copied >Archive']);
  });

  test('copies of other mailboxes at the same time are apart, and all are in the order of time', () => {
    const stays = [stay('INBOX', null, 5_000, 1), stay('Junk', null, 2_000, 2), stay('Trash', 5_000, null, 2)];
    expect(shown(stays)).toEqual(['2000 deleted Junk>', '5000 deleted INBOX>', '5000 copied >Trash']);
  });
});
