import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ChallengeAnswers } from '../acme/challenge-answers.ts';
import { readClientHello } from '../acme/client-hello.ts';

/** RFC 8737 6.2. */
const PROTOCOL = 'acme-tls/1';
/** Time until the first TLS record is complete, ms. */
const HELLO_MS = 10_000;
/** Octets of the first record with its header. */
const MAX_HELLO = 16_389;

/**
 * Answers TLS-ALPN-01 challenges at an HTTPS listener. Only while one is open, the first record of each connection is read
 * before the handshake: Node chooses the certificate before it knows the protocols that a client offers.
 */
export function answerAlpnChallenges(server: Server, challenges: ChallengeAnswers): void {
  const [handshake, ...others] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (handshake === undefined || others.length > 0) throw new Error('the HTTPS server has not one connection listener');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (challenges.hasCertificates) inspect(socket, challenges, () => handshake.call(server, socket));
    else handshake.call(server, socket);
  });
}

/** Reads the first record, and passes the connection on unless it is the authority's. */
function inspect(socket: Socket, challenges: ChallengeAnswers, pass: () => void): void {
  let octets = Buffer.alloc(0);
  const onError = (): void => void socket.destroy();
  const timer = setTimeout(onError, HELLO_MS);
  const onData = (chunk: Buffer): void => {
    octets = Buffer.concat([octets, chunk]);
    const hello = readClientHello(octets);
    if (hello === 'more' && octets.length < MAX_HELLO) return;
    stop();
    socket.pause();
    socket.unshift(octets);
    if (hello === 'more' || hello?.protocols.includes(PROTOCOL) !== true) return pass();
    answer(socket, challenges, hello.serverName ?? '');
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('data', onData).off('error', onError).off('end', onError).off('close', stop);
  };
  socket.on('data', onData).on('error', onError).on('end', onError).on('close', stop);
}

/** Ends the connection after the handshake, as the authority does. */
function answer(socket: Socket, challenges: ChallengeAnswers, serverName: string): void {
  const secureContext = challenges.certificateFor(serverName);
  if (secureContext === undefined) return void socket.destroy();
  const timer = setTimeout(() => socket.destroy(), HELLO_MS);
  socket.on('close', () => clearTimeout(timer)).on('error', () => socket.destroy());
  const secured = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: [PROTOCOL] });
  secured.on('error', () => socket.destroy());
  secured.on('secure', () => secured.end());
}
