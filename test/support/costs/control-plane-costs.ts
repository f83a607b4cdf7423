import { createSecretKey } from 'node:crypto';
import { rowId } from '../../../src/core/ids.ts';
import { isPlainLine } from '../../../src/core/schemas.ts';
import { answeredLetter } from '../../../src/digest/reply-address.ts';
import { respond } from '../../../src/name-server/respond.ts';
import { hostableName } from '../../../src/domains/domains.ts';
import { isVulnerabilityScan } from '../../../src/http/connection-guard.ts';
import { readRange } from '../../../src/jmap/download-route.ts';
import { typesOf } from '../../../src/jmap/push-types.ts';
import { kindOf } from '../../../src/mcp/resources/kinds.ts';
import { ownerAddress, plainName } from '../../../src/notices/owners.ts';
import { passwordFault } from '../../../src/people/password.ts';
import { recoveryCodeHash } from '../../../src/people/recovery-code.ts';
import { acceptedStep } from '../../../src/people/totp.ts';
import { readResponse } from '../../../src/people/webauthn.ts';
import { isUnder } from '../../../src/waiting/message-criteria.ts';
import { sanitized } from '../../../src/webhooks/post.ts';
import { parseBounded } from '../../../src/core/json.ts';
import { readAuthorizeParameters } from '../../../src/oauth/authorize-request.ts';
import { readMetadata } from '../../../src/oauth/client-document.ts';
import { isRegistered, redirectProblem } from '../../../src/oauth/redirect-uri.ts';
import { readRpcMessage } from '../../../src/mcp/request.ts';
import { readSearch } from '../../../src/operations/reading/search-words.ts';
import { headerLines, replyToOf, selectedHeaders } from '../../../src/operations/reading/shown-message.ts';
import { parseSpf, spfTexts } from '../../../src/domains/spf-record.ts';
import { readUnsubscribe } from '../../../src/unsubscribe/commands.ts';
import { describeLength, revealInvisible, visibleLine, visibleText } from '../../../src/untrusted/invisible.ts';
import { remoteText, untrusted } from '../../../src/untrusted/untrusted.ts';
import { safeName } from '../../../src/webhooks/payload.ts';
import { checkWebhookUrl } from '../../../src/webhooks/url-check.ts';
import type { Resolver } from '../../../mail/dns/lookup.ts';
import { caught, type CostRow, costs, driven, octets } from './row.ts';
import { EMPTY_DNS } from './smtp-costs.ts';

const key = Buffer.alloc(32, 1);
const source = { messageId: 'm1', from: null, auth: 'none' } as const;

const BODIES = costs(
  {
    at: 'src/core',
    input: 'body of a REST or MCP request',
    bound: '4 MiB, 20,000 elements, 32 levels',
    thread: 'main',
  },
  {
    parseBounded: driven(parseBounded, { worst: ['{},', '[[],', '{"a":'] }),
    'parseBounded: array': driven((text) => parseBounded(`[${text}0]`), { worst: ['{},', '[],', '0,'] }),
    'parseBounded: string': (text) => parseBounded(JSON.stringify({ a: text })),
    readRpcMessage: driven(
      (text) => readRpcMessage(JSON.stringify({ jsonrpc: '2.0', method: text, params: { text } })),
      {
        at: 'src/mcp',
      },
    ),
  },
);

const OAUTH = costs(
  {
    at: 'src/oauth',
    input: 'client of OAuth',
    bound: 'document of 16 KiB, query of 4,000, URIs of 500',
    thread: 'main',
  },
  {
    redirectProblem,
    isRegistered: (text) => isRegistered([`${text}a`, text], `http://localhost:1/${text}`),
    readMetadata: (text) =>
      readMetadata({ redirect_uris: ['https://a.example/'], client_name: text, grant_types: [text] }),
    readAuthorizeParameters: (text) => readAuthorizeParameters({ state: text, scope: text }),
  },
);

const READ = costs(
  {
    at: 'src/operations/reading',
    input: 'header of a message',
    bound: 'header of 256 KiB, 1,000 fields',
    thread: 'main',
  },
  {
    selectedHeaders: (text) => selectedHeaders(`Message-ID: ${text}\r\nList-Id: ${text}`),
    headerLines,
    replyToOf: (text) => replyToOf(`Reply-To: ${text}`),
    readSearch: driven((text) => caught(() => readSearch(text)), {
      input: 'query of a search',
      bound: '1,000 characters',
      most: 1000,
    }),
  },
);

const SHOWN = costs(
  {
    at: 'src/untrusted',
    input: 'text shown to agents and people',
    bound: 'answers of 60,000 characters',
    thread: 'main',
  },
  {
    visibleText,
    visibleLine: (text) => visibleLine(text, 1000),
    revealInvisible: driven(revealInvisible, {
      input: 'arguments of a proposal, mail that waits for approval',
      bound: '64 KiB of arguments, 20,000 characters of a mail',
      most: 65_536,
    }),
    describeLength,
    remoteText,
    untrusted: (text) => untrusted('0123456789', source, text),
  },
);

const OTHERS = costs(
  { at: 'src/webhooks', input: 'URL or file name', bound: '2,000 characters', thread: 'main' },
  {
    checkWebhookUrl: (text) =>
      checkWebhookUrl(`https://a.example/${text}`, { all: false, networks: [], endpoints: [] }, EMPTY_DNS as Resolver),
    safeName: (text) => safeName(text, { path: '1', subtype: text }),
    readUnsubscribe: driven((text) => readUnsubscribe(key, text), {
      at: 'src/unsubscribe',
      input: 'token of an unsubscribe link',
      bound: '1,000 characters',
    }),
    parseSpf: driven((text) => parseSpf(`v=spf1 ${text}`), {
      at: 'src/domains',
      input: 'SPF record of a domain',
      bound: 'record of 64 KiB',
      most: 65_535,
    }),
    spfTexts: driven((text) => spfTexts([`v=spf1${text}`]), {
      at: 'src/domains',
      input: 'SPF record of a domain',
      bound: 'record of 64 KiB',
      most: 65_535,
    }),
  },
);

const NAMES = costs(
  {
    at: 'src/core',
    input: 'argument, header or path of a request',
    bound: 'body of 4 MiB, header of 16 KiB',
    thread: 'main',
  },
  {
    rowId: (text) => rowId('mailbox', text),
    isPlainLine,
    isVulnerabilityScan: driven((text) => isVulnerabilityScan(text, undefined), { at: 'src/http' }),
    readRange: driven((text) => readRange(`bytes=${text}`, 10), { at: 'src/jmap' }),
    typesOf: driven(typesOf, { at: 'src/jmap' }),
    passwordFault: driven(passwordFault, { at: 'src/people', bound: '200 characters' }),
    recoveryCodeHash: driven(recoveryCodeHash, { at: 'src/people', bound: '100 characters' }),
    'acceptedStep: code': driven((text) => acceptedStep(key, text, { now: 0, after: 0 }), { at: 'src/people' }),
    readResponse: driven((text) => readResponse(JSON.stringify({ id: text, clientDataJSON: text })), {
      at: 'src/people',
      bound: '16,384 characters',
    }),
    plainName: driven(plainName, { at: 'src/notices', bound: '500 characters' }),
    ownerAddress: driven(ownerAddress, { at: 'src/notices' }),
    answeredLetter: driven((text) => answeredLetter({ local: text, domain: 'b' }, 'b', createSecretKey(key)), {
      at: 'src/digest',
      input: 'recipient of SMTP',
      bound: 'line of 2,048 octets',
    }),
    sanitized: driven(sanitized, { at: 'src/webhooks', input: 'answer of a webhook', bound: '64 KiB' }),
    hostableName: driven((text) => caught(() => hostableName(text)), { at: 'src/domains', bound: '253 characters' }),
    respond: driven((text) => caught(() => respond(octets(text), 'udp', () => Promise.resolve(undefined))), {
      at: 'src/name-server',
      input: 'DNS query of a stranger',
      bound: '1,024 octets',
    }),
    kindOf: driven(kindOf, { at: 'src/mcp/resources' }),
    isUnder: driven((text) => isUnder(text, `a.${text}`), { at: 'src/waiting' }),
  },
);

/** Functions of the control plane that read requests, URLs and records. */
export const CONTROL_PLANE_COSTS: readonly CostRow[] = [...BODIES, ...OAUTH, ...READ, ...SHOWN, ...OTHERS, ...NAMES];
