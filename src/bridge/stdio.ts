import { readFileSync } from 'node:fs';
import { Bridge } from './bridge.ts';
import { Endpoint } from './endpoint.ts';
import { lines } from './events.ts';
import type { Place } from './place.ts';

/** Runs the bridge between this process's standard input and output and a server, until the input ends. */
export async function bridgeStdio(place: Place, token: string | undefined): Promise<void> {
  const endpoint = new Endpoint(place, token);
  const bridge = new Bridge(endpoint, {
    message: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    complain: (sentence) => void process.stderr.write(`mailstead mcp: ${sentence}\n`),
  });
  // The client is gone: there is nobody to tell.
  process.stdout.on('error', () => process.exit(0));
  for await (const line of lines(process.stdin as AsyncIterable<Uint8Array>)) bridge.take(line);
  await bridge.finish();
  endpoint.close();
}

/** The token that a file holds. */
export function tokenIn(file: string): string | { problem: string } {
  try {
    const token = readFileSync(file, 'utf8').trim();
    return /^[\x21-\x7e]+$/.test(token) ? token : { problem: `The file ${file} holds no token.` };
  } catch (error) {
    return { problem: `The token file ${file} cannot be read: ${(error as Error).message}.` };
  }
}
