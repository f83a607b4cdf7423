import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseAddress, parseDomain, formatAddress } from '../../../mail/message/address.ts';
import { hostedDomains } from '../../../mail/store/address/domain.ts';
import { autoconfigXml } from '../../client-setup/autoconfig.ts';
import { autodiscoverError, autodiscoverXml, readAutodiscover } from '../../client-setup/autodiscover.ts';
import { clientSettings } from '../../client-setup/client-settings.ts';
import { paccDocument } from '../../client-setup/pacc.ts';
import type { AppContext } from '../../core/app-context.ts';
import { stsPolicyText } from '../../domains/sts-policy.ts';
import { hostedStsPolicy } from '../../domains/sts-queries.ts';
import { sendRefusal } from '../json-replies.ts';

/** Octets of a request of Outlook. */
const MAX_REQUEST = 16 * 1024;

/**
 * Documents by which mail programs set themselves up, and MTA-STS policies. They depend on the domain alone, so that they tell
 * nobody which mailboxes exist. Unknown domains are answered 404.
 */
export function clientSetupRoutes(context: AppContext): (app: FastifyInstance) => void {
  return (app) => {
    app.addHook('onRequest', async (request, reply) => {
      const wait = context.limits.take(request.ip, undefined, context.clock());
      if (wait === 0) return undefined;
      const message = `Too many requests. Retry in ${wait} s.`;
      return sendRefusal(reply, { error: 'rate_limited', message, retryAfterSeconds: wait });
    });
    app.addContentTypeParser(
      /^(?:text|application)\/xml(?:;|$)/,
      { parseAs: 'string', bodyLimit: MAX_REQUEST },
      async (_: unknown, body: unknown) => body,
    );
    for (const path of ['/mail/config-v1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml']) {
      app.get(path, (request, reply) => sendAutoconfig(context, request, reply));
    }
    // Programs write these in all ways.
    for (const folder of ['autodiscover', 'Autodiscover', 'AutoDiscover']) {
      for (const file of ['autodiscover', 'Autodiscover', 'AutoDiscover']) {
        app.post(`/${folder}/${file}.xml`, (request, reply) => sendAutodiscover(context, request, reply));
        app.get(`/${folder}/${file}.json`, (request, reply) => sendProtocolUrl(context, request, reply));
        app.get(`/${folder}/${file}.json/v1.0/:Email`, (request, reply) => sendProtocolUrl(context, request, reply));
      }
    }
    app.get('/.well-known/user-agent-configuration.json', (request, reply) => sendPacc(context, request, reply));
    app.get('/.well-known/mta-sts.txt', (request, reply) => sendPolicy(context, request, reply));
  };
}

type Sender = (context: AppContext, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const sendAutoconfig: Sender = async (context, request, reply) => {
  const { emailaddress } = request.query as Record<string, unknown>;
  const address = typeof emailaddress === 'string' ? parseAddress(emailaddress) : undefined;
  const domain = await hosted(context, address?.domain ?? domainOfHost(request, 'autoconfig.'));
  if (domain === undefined) return notHosted(reply);
  const shown = address === undefined ? undefined : formatAddress(address);
  return reply.type('text/xml; charset=utf-8').send(autoconfigXml(domain, shown, clientSettings(context)));
};

const sendAutodiscover: Sender = async (context, request, reply) => {
  const wanted = typeof request.body === 'string' ? readAutodiscover(request.body) : undefined;
  const address = wanted === undefined ? undefined : parseAddress(wanted.address);
  const domain = await hosted(context, address?.domain);
  void reply.type('application/xml; charset=utf-8');
  if (address === undefined || domain === undefined) return reply.send(autodiscoverError(context.clock()));
  return reply.send(autodiscoverXml(formatAddress(address), clientSettings(context)));
};

/** Autodiscover v2: where the older one is. */
const sendProtocolUrl: Sender = async (context, request, reply) => {
  const given = { ...(request.query as Record<string, unknown>), ...(request.params as Record<string, unknown>) };
  const fields = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const [email, protocol] = [fields.get('email'), fields.get('protocol')];
  const address = typeof email === 'string' ? parseAddress(email) : undefined;
  if ((await hosted(context, address?.domain)) === undefined) return notHosted(reply);
  if (typeof protocol !== 'string' || protocol.toLowerCase() !== 'autodiscoverv1') {
    const message = 'This server supports the protocol AutodiscoverV1 only: IMAP and SMTP.';
    return reply.code(400).send({ ErrorCode: 'InvalidProtocol', ErrorMessage: message });
  }
  return reply.send({ Protocol: 'AutodiscoverV1', Url: `${context.baseUrl()}/autodiscover/autodiscover.xml` });
};

const sendPacc: Sender = async (context, request, reply) => {
  const domain = await hosted(context, domainOfHost(request, 'ua-auto-config.'));
  if (domain === undefined) return notHosted(reply);
  return reply.type('application/json').send(Buffer.from(paccDocument(domain, clientSettings(context))));
};

/** RFC 8461 3.3. */
const sendPolicy: Sender = async (context, request, reply) => {
  const host = hostOf(request);
  const name = host.startsWith('mta-sts.') ? host.slice('mta-sts.'.length) : '';
  const policy = await context.store.read(hostedStsPolicy, { name });
  if (policy === undefined) return notHosted(reply);
  return reply.type('text/plain; charset=utf-8').send(stsPolicyText(policy, context.settings.hostname));
};

/** The domain, if it is hosted and verified here. */
async function hosted({ store }: AppContext, domain: string | undefined): Promise<string | undefined> {
  return domain === undefined ? undefined : (await store.read(hostedDomains, { names: [domain] }))[0];
}

/** Domain that a host name stands for. */
function domainOfHost(request: FastifyRequest, prefix: string): string | undefined {
  const host = hostOf(request);
  return parseDomain(host.startsWith(prefix) ? host.slice(prefix.length) : host);
}

function hostOf({ hostname }: FastifyRequest): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

function notHosted(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ error: 'not_found', message: 'This server does not host the domain.' });
}
