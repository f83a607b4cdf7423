import { type Action, DROP, RESET, type Script, SILENCE, type Stage } from './scripted-smtp.ts';

/** One way in which a server can misbehave. */
export interface Misbehaviour {
  name: string;
  script: Script;
  /** STARTTLS is offered, with what stands behind it. */
  tls?: 'good' | 'old' | 'none';
  /** The server may have the message although it did not say so. */
  ambiguous: boolean;
}

const STAGES: readonly Stage[] = ['connect', 'ehlo', 'starttls', 'mail', 'rcpt', 'data', 'dot', 'quit'];
const MEGABYTE = 1024 * 1024;

/** Replies and actions of a server in place of the expected reply. */
const REPLIES: readonly [name: string, Action][] = [
  ['a 1xx', '150 wait for it'],
  ['a 2xx of another place', '250 2.0.0 fine'],
  ['a greeting', '220 hello again'],
  ['a 3xx', '354 go on'],
  ['a 4xx', '450 4.2.0 not now'],
  ['greylisting', '451 4.7.1 Greylisted, come back in 300 seconds'],
  ['a 5xx', '550 5.7.1 never'],
  ['no such user', '550 5.1.1 who?'],
  ['421', '421 4.3.2 shutting down'],
  ['421 and its end', { close: '421 4.3.2 shutting down' }],
  ['a code over 599', '999 odd'],
  ['a code under 100', '099 odd'],
  ['two digits', '25 odd'],
  ['no code', 'Welcome to our server'],
  ['nothing but a line end', ''],
  ['lines of different codes', '250-one\r\n550 two'],
  ['lines without an end', Array.from({ length: 200 }, (_, i) => `250-${i}`).join('\r\n')],
  ['10 MB without a line end', { say: Buffer.alloc(10 * MEGABYTE, 'A') }],
  ['a line of 1 MB', { say: Buffer.concat([Buffer.from('550 '), Buffer.alloc(MEGABYTE, 'x'), Buffer.from('\r\n')]) }],
  ['control characters', { say: Buffer.from('550 5.7.1 \0\x01\x1b[2J\x07\x7f\rSubject: injected\r\n') }],
  ['a header to inject', '550-5.7.1 no\r\n550-\r\n550-Subject: injected\r\n550 Bcc: victim@x.test'],
  ['text that is no UTF-8', { say: Buffer.from([...Buffer.from('550 5.7.1 '), 0xff, 0xfe, 0xc0, 0x8d, 0x0d, 0x0a]) }],
  ['writing that turns round', '550 5.7.1 \u202egnp.exe\u2028Subject: injected'],
  ['a reply too many', '250 2.0.0 one\r\n250 2.0.0 two\r\n550 5.0.0 three'],
  ['a reply before its time and its end', { close: '250 2.0.0 ok\r\n421 bye' }],
  ['an octet now and then', { slowly: `250 ${'x'.repeat(300)}\r\n` }],
  ['half a line, and silence', { say: Buffer.from('25') }],
  ['a drop', DROP],
  ['a reset', RESET],
  ['silence', SILENCE],
];

/** All replies at all places, each at its first time or at the second of three recipients; ends cut off; broken TLS. */
export function misbehaviours(): Misbehaviour[] {
  return [...atStages(), ...cutEnds(), ...brokenTls()];
}

function atStages(): Misbehaviour[] {
  return STAGES.flatMap((stage) =>
    REPLIES.map(([what, action]): Misbehaviour => ({
      name: `${stage}: ${what}`,
      script: {
        [stage]: (_line: string, times: number) => (times === (stage === 'rcpt' ? 2 : 1) ? action : undefined),
      },
      ...(stage === 'starttls' && { tls: 'good' as const }),
      ambiguous: stage === 'dot',
    })),
  );
}

/** A connection that ends behind each octet of the last answer. */
function cutEnds(): Misbehaviour[] {
  const answer = '250 2.0.0 Taken\r\n';
  return Array.from({ length: answer.length + 1 }, (_, octets) => ({
    name: `dot: cut off after ${octets} octets`,
    script: { dot: (_line: string, times: number) => (times === 1 ? { cut: answer.slice(0, octets) } : undefined) },
    ambiguous: true,
  }));
}

function brokenTls(): Misbehaviour[] {
  const kinds: readonly [string, Pick<Misbehaviour, 'tls' | 'script'>][] = [
    ['a certificate of nobody', { tls: 'good', script: {} }],
    ['versions that are too old', { tls: 'old', script: {} }],
    ['plain text in the handshake', { tls: 'none', script: {} }],
    ['the end in the handshake', { tls: 'none', script: { starttls: { close: '220 go ahead' } } }],
    ['silence in the handshake', { tls: 'none', script: { other: SILENCE } }],
    ['an answer put in before it', { tls: 'good', script: { starttls: '220 go ahead\r\n250 AUTH PLAIN' } }],
    ['no EHLO after it', { tls: 'good', script: { ehlo: (_l, times) => (times === 2 ? '500 5.5.1 no' : undefined) } }],
    ['a drop after it', { tls: 'good', script: { ehlo: (_l, times) => (times === 2 ? DROP : undefined) } }],
  ];
  return kinds.map(([what, one]) => ({ name: `TLS: ${what}`, ambiguous: false, ...one }));
}
