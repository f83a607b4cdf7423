import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../start/mailstead.ts', import.meta.url));
const MAX_OUTPUT = 4 * 1024 * 1024;

/** Result of a command for backups: its JSON, or the reason of its failure. */
export type CommandResult = { ok: true; value: unknown } | { ok: false; message: string };

/**
 * Runs a command for backups in a process of its own: it may open the files of the database, has a low priority, and
 * its end, whatever its cause, is not that of the server. It has the settings of the server.
 */
export function runBackupCommand(words: readonly string[], stop: AbortSignal): Promise<CommandResult> {
  return new Promise((resolve) => {
    const envFiles = process.argv.flatMap((arg, i) => (arg === '--env-file' ? [arg, process.argv[i + 1] ?? ''] : []));
    const child = spawn(process.execPath, ['--max-old-space-size=512', COMMAND, ...words, ...envFiles, '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: stop,
    });
    const texts = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (texts.out += texts.out.length < MAX_OUTPUT ? chunk.toString() : ''));
    child.stderr.on('data', (chunk: Buffer) => (texts.err += texts.err.length < MAX_OUTPUT ? chunk.toString() : ''));
    child.on('error', (error) => resolve({ ok: false, message: error.message }));
    child.on('close', (code, signal) => {
      const value = parseJson(texts.out);
      if (value !== undefined) resolve({ ok: true, value });
      else resolve({ ok: false, message: messageIn(texts.err) ?? `the backup ended with ${code ?? signal}` });
    });
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageIn(text: string): string | undefined {
  const error = parseJson(text.slice(text.indexOf('{'))) as { message?: string } | undefined;
  return error?.message;
}
