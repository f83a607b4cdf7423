import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Wire } from './wire.ts';

/**
 * A conversation as people read it:
 *
 *     # What this promises
 *     = door submission
 *     C: EHLO client.example
 *     S: 250-*
 *     S: 250 *
 *
 * A `#` line behind an empty line (or at the start) begins a dialog, other `#` lines are comments, `= name value` are
 * settings for the test that plays it. `C: ` sends a line with CRLF, `C> ` sends octets without it. Both know `\r`
 * `\n` `\0` `\t` `\\` `\xNN`. `S: ` is one line of the server, where `*` at the end stands for anything and `...` alone
 * stands for lines up to the next one expected. `C: <tls>` begins TLS, `C: <end>` ends our side, `S: <closed>` expects
 * that the server has closed. `C2: ` and `S2: ` are a second connection, opened when first used.
 */
export interface Dialog {
  file: string;
  title: string;
  settings: ReadonlyMap<string, string>;
  steps: readonly Step[];
}

interface Step {
  line: number;
  connection: string;
  kind: 'send' | 'send-raw' | 'expect';
  text: string;
}

const STEP = /^(?:([CS])(\d?)([:>])) ?(.*)$/;

/** The dialogs of every `.dialog` file in a directory. */
export function readDialogs(directory: string): Dialog[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.dialog'));
  return files.sort().flatMap((name) => parseDialogs(name, readFileSync(join(directory, name), 'utf8')));
}

export function parseDialogs(file: string, text: string): Dialog[] {
  const dialogs: { file: string; title: string; settings: Map<string, string>; steps: Step[] }[] = [];
  let afterBlank = true;
  for (const [index, line] of text.split('\n').entries()) {
    const dialog = dialogs.at(-1);
    if (line.startsWith('#') && afterBlank) {
      dialogs.push({ file, title: line.slice(1).trim(), settings: new Map(), steps: [] });
    } else if (line.startsWith('=')) {
      const [name = '', ...value] = line.slice(1).trim().split(' ');
      dialog?.settings.set(name, value.join(' '));
    } else if (line.trim() !== '' && !line.startsWith('#')) dialog?.steps.push(parseStep(file, index + 1, line));
    afterBlank = line.trim() === '';
  }
  return dialogs;
}

function parseStep(file: string, line: number, text: string): Step {
  const parts = STEP.exec(text);
  if (parts === null) throw new Error(`${file}:${line}: not a step: ${text}`);
  const kind = parts[1] === 'S' ? 'expect' : parts[3] === '>' ? 'send-raw' : 'send';
  return { line, connection: parts[2] ?? '', kind, text: parts[4] ?? '' };
}

/** Plays a dialog; `connect` opens a connection of it. Throws with file and line where the server says otherwise. */
export async function play(dialog: Dialog, connect: () => Promise<Wire>): Promise<void> {
  const wires = new Map<string, Wire>();
  try {
    for (const [index, step] of dialog.steps.entries()) {
      const wire = wires.get(step.connection) ?? (await connect());
      wires.set(step.connection, wire);
      if (step.kind === 'expect') await expectStep(dialog, index, wire);
      else if (step.text === '<tls>') await wire.encrypt();
      else if (step.text === '<end>') wire.end();
      else wire.send(octetsOf(step.text + (step.kind === 'send' ? '\\r\\n' : '')));
    }
  } finally {
    for (const wire of wires.values()) wire[Symbol.dispose]();
  }
}

async function expectStep(dialog: Dialog, index: number, wire: Wire): Promise<void> {
  const step = dialog.steps[index]!;
  if (step.text === '...') return; // the step after it skips
  const skips = dialog.steps[index - 1]?.text === '...';
  for (;;) {
    const line = await wire.line();
    if (matches(step.text, line)) return;
    if (skips && line !== undefined) continue;
    throw new Error(`${dialog.file}:${step.line}: expected "${step.text}", got "${line ?? '<closed>'}"`);
  }
}

function matches(expected: string, line: string | undefined): boolean {
  if (expected === '<closed>') return line === undefined;
  if (line === undefined) return false;
  return expected.endsWith('*') ? line.startsWith(expected.slice(0, -1)) : line === expected;
}

const NAMED: Record<string, string> = { r: '\r', n: '\n', t: '\t', '0': '\0', '\\': '\\' };

function octetsOf(text: string): Buffer {
  const pieces = text.split(/(\\x[0-9a-fA-F]{2}|\\[rnt0\\])/);
  return Buffer.concat(
    pieces.map((piece) => {
      if (piece.startsWith('\\x') && piece.length === 4) return Buffer.from([Number.parseInt(piece.slice(2), 16)]);
      return Buffer.from(piece.length === 2 && piece[0] === '\\' ? (NAMED[piece[1]!] ?? piece) : piece);
    }),
  );
}
