import { hash } from 'node:crypto';
import { z } from 'zod';
import { signedHeaders } from '../../../mail/store/bucket/s3-signature.ts';
import { ProviderApi } from '../provider-api.ts';
import { DnsProviderError } from '../provider-error.ts';
import type { DnsProviderKind, ZoneClient } from '../zone-client.ts';
import { normalizeZoneName, type RecordSetChange, ttlOf, readRecordData, type ZoneEntry } from '../zone-entry.ts';
import { dataAfter, checkHeaderCredential, readPages } from './shared.ts';
import { elementsOf, encodeXmlText, textIn } from './xml-elements.ts';

const TITLE = 'Route 53';
const SCOPE =
  'an access key that may route53:ListHostedZonesByName, and for the zone route53:ListResourceRecordSets and route53:ChangeResourceRecordSets';
const PAGE = 300;
const VERSION = '/2013-04-01';
const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/';
/** Zone ids as AWS makes them. */
const Id = z.string().regex(/^[A-Z0-9]{1,32}$/);

/** https://docs.aws.amazon.com/Route53/latest/APIReference: record sets, changed in batches as a whole. */
export const ROUTE53: DnsProviderKind = {
  id: 'route53',
  title: TITLE,
  scope: SCOPE,
  fields: [
    { name: 'accessKey', label: 'Access key id', secret: true },
    { name: 'secretKey', label: 'Secret access key', secret: true },
  ],
  async open(zone, { accessKey = '', secretKey = '' }, tools) {
    const keys = { accessKey: checkHeaderCredential(accessKey), secretKey, region: 'us-east-1' };
    const api = new ProviderApi({
      title: TITLE,
      scope: SCOPE,
      base: 'https://route53.amazonaws.com',
      tools,
      contentType: 'application/xml',
      headers: ({ method, url, body }) => {
        const request = { method: method as 'GET' | 'POST', url, bodyHash: hash('sha256', body, 'hex') };
        return signedHeaders(request, keys, new Date(tools.clock()), 'route53');
      },
    });
    const { body } = await api.send(
      'GET',
      `${VERSION}/hostedzonesbyname?dnsname=${encodeURIComponent(zone)}&maxitems=10`,
    );
    const found = elementsOf(body, 'HostedZone').find((one) => {
      return normalizeZoneName(textIn(one, 'Name')) === zone && textIn(one, 'PrivateZone') !== 'true';
    });
    const id = Id.safeParse(found === undefined ? '' : textIn(found, 'Id').replace('/hostedzone/', ''));
    return id.success ? new Route53Zone(zone, api, `${VERSION}/hostedzone/${id.data}/rrset`) : undefined;
  },
};

class Route53Zone implements ZoneClient {
  readonly zone: string;
  readonly #api: ProviderApi;
  readonly #path: string;

  constructor(zone: string, api: ProviderApi, path: string) {
    this.zone = zone;
    this.#api = api;
    this.#path = path;
  }

  async list(): Promise<ZoneEntry[]> {
    const sets = await readPages('', async (from: string) => {
      const body = await this.#send('GET', `?maxitems=${PAGE}${from}`);
      return { items: elementsOf(body, 'ResourceRecordSet'), next: nextPage(body) };
    });
    return sets.flatMap(entriesIn);
  }

  /** The old set is named whole: the batch fails if somebody changed it meanwhile. */
  async change(change: RecordSetChange): Promise<void> {
    const old = [...change.remove, ...change.keep];
    const data = dataAfter(change);
    const changes = [
      ...(old.length === 0
        ? []
        : [
            changeText(
              'DELETE',
              change,
              old.map(({ raw }) => raw),
              old[0]?.ttl ?? 0,
            ),
          ]),
      ...(data.length === 0 ? [] : [changeText('CREATE', change, data, ttlOf(change))]),
    ];
    const batch = `<ChangeBatch><Changes>${changes.join('')}</Changes></ChangeBatch>`;
    const body = `<ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}">${batch}</ChangeResourceRecordSetsRequest>`;
    await this.#send('POST', '', `<?xml version="1.0" encoding="UTF-8"?>${body}`);
  }

  /** A zone that was deleted after it was found is a failure, not an empty zone. */
  async #send(method: 'GET' | 'POST', query: string, text?: string): Promise<string> {
    const { status, body } = await this.#api.send(method, `${this.#path}${query}`, text);
    if (status !== 404) return body;
    throw new DnsProviderError('rejected', `${TITLE} has no zone ${this.zone} any more. Connect the domain again.`);
  }
}

function nextPage(body: string): string | undefined {
  if (textIn(body, 'IsTruncated') !== 'true') return undefined;
  const [name, type, identifier] = ['NextRecordName', 'NextRecordType', 'NextRecordIdentifier'].map((one) => {
    return encodeURIComponent(textIn(body, one));
  });
  return `&name=${name}&type=${type}${identifier === '' ? '' : `&identifier=${identifier}`}`;
}

function entriesIn(set: string): ZoneEntry[] {
  const type = textIn(set, 'Type');
  const name = normalizeZoneName(unescapedName(textIn(set, 'Name')));
  const ttl = Number(textIn(set, 'TTL')) || 0;
  const values = elementsOf(set, 'ResourceRecord').map((one) => textIn(one, 'Value'));
  // An alias has no records, but takes the name.
  const data = values.length === 0 ? ['alias'] : values;
  return data.map((raw) => ({ type, name, value: readRecordData(type, raw), ttl, id: '', raw }));
}

/** `\052` is an asterisk. */
function unescapedName(name: string): string {
  return name
    .slice(0, 1024)
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function changeText(
  action: 'CREATE' | 'DELETE',
  { name, type }: Pick<RecordSetChange, 'name' | 'type'>,
  data: readonly string[],
  ttl: number,
): string {
  const records = data.map((one) => `<ResourceRecord><Value>${encodeXmlText(one)}</Value></ResourceRecord>`).join('');
  const set = `<Name>${encodeXmlText(name)}.</Name><Type>${type}</Type><TTL>${ttl}</TTL><ResourceRecords>${records}</ResourceRecords>`;
  return `<Change><Action>${action}</Action><ResourceRecordSet>${set}</ResourceRecordSet></Change>`;
}
