import { parseBounded } from '../../../src/core/json.ts';
import { readParameters } from '../../../src/oauth/authorize-request.ts';
import { readMetadata } from '../../../src/oauth/client-document.ts';
import { isRegistered, redirectProblem } from '../../../src/oauth/redirect-uri.ts';
import { readMessage } from '../../../src/mcp/request.ts';
import { readSearch } from '../../../src/operations/reading/search-words.ts';
import { headerLines, replyToOf, selectedHeaders } from '../../../src/operations/reading/shown-message.ts';
import { parseSpf, spfTexts } from '../../../src/domains/spf-record.ts';
import { readUnsubscribe } from '../../../src/unsubscribe/commands.ts';
import { describeLength, revealInvisible, visibleLine, visibleText } from '../../../src/untrusted/invisible.ts';
import { remoteText, untrusted } from '../../../src/untrusted/untrusted.ts';
import { safeName } from '../../../src/webhooks/payload.ts';
import { checkWebhookUrl } from '../../../src/webhooks/url-check.ts';
import type { Resolver } from '../../../mail/dns/lookup.ts';
import { caught, type CostRow, costs, driven } from './row.ts';
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
    readMessage: driven((text) => readMessage(JSON.stringify({ jsonrpc: '2.0', method: text, params: { text } })), {
      at: 'src/mcp',
    }),
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
    readParameters: (text) => readParameters({ state: text, scope: text }),
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

/** Functions of the control plane that read requests, URLs and records. */
export const CONTROL_PLANE_COSTS: readonly CostRow[] = [...BODIES, ...OAUTH, ...READ, ...SHOWN, ...OTHERS];
