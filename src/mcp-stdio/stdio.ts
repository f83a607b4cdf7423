import { readFileSync } from 'node:fs';
import { StdioBridge } from './bridge.ts';
import { RemoteEndpoint, type ServerAddress } from './endpoint.ts';
import { lines } from './events.ts';

/** Runs the bridge on standard input and output until the input ends. */
export async function bridgeStdio(address: ServerAddress, token: string | undefined): Promise<void> {
  const endpoint = new RemoteEndpoint(address, token);
  const bridge = new StdioBridge(endpoint, {
    message: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    warn: (sentence) => void process.stderr.write(`mailstead mcp: ${sentence}\n`),
  });
  // The client closed its end.
  process.stdout.on('error', () => process.exit(0));
  for await (const line of lines(process.stdin as AsyncIterable<Uint8Array>)) bridge.send(line);
  await bridge.finish();
  endpoint.close();
}

/** Reads a token from a file. */
export function readTokenFile(file: string): string | { problem: string } {
  try {
    const token = readFileSync(file, 'utf8').trim();
    return /^[\x21-\x7e]+$/.test(token) ? token : { problem: `The file ${file} contains no token.` };
  } catch (error) {
    return { problem: `The token file ${file} cannot be read: ${(error as Error).message}.` };
  }
}
