import { readClientHello } from '../../../src/acme/client-hello.ts';
import { type CostRow, costs, octets } from './row.ts';

/** Functions that the first octets of a TLS connection reach. */
export const TLS_COSTS: readonly CostRow[] = [
  ...costs(
    {
      at: 'src/acme/client-hello.ts',
      input: 'first TLS record of a connection, while a TLS-ALPN-01 challenge is open',
      bound: '16,389 octets',
      thread: 'main',
    },
    { readClientHello: (text) => readClientHello(octets(`\x16\x03\x01${text}`)) },
  ),
];
