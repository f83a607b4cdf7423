import type { Answer } from 'dns-packet';

/** A record; its name is taken from the query, so that the case is preserved. */
export type ZoneRecord =
  | { type: 'A' | 'AAAA' | 'NS' | 'CNAME'; value: string }
  | { type: 'MX'; value: string; priority: number }
  | { type: 'TXT'; value: string }
  | { type: 'SRV'; priority: number; weight: number; port: number; value: string }
  /** Usage 3, selector 1, matching type 1: SHA-256 of a public key, hexadecimal. RFC 7671 5.1. */
  | { type: 'TLSA'; value: string };

/** Records at one name. Names are lower case without a trailing dot. */
export interface ZoneAnswer {
  /** The top of the zone. */
  readonly apex: string;
  /** Name server of the zone, for its SOA. */
  readonly server: string;
  /** Anything exists at or below the name. */
  readonly exists: boolean;
  readonly records: readonly ZoneRecord[];
}

/** Finds the zone of a name; undefined for names that this box does not serve. */
export type FindZone = (name: string) => Promise<ZoneAnswer | undefined>;

/** Seconds; short, because keys rotate and domains leave. */
export const TTL = 300;
/** Seconds of negative caching: people publish a record and check again soon. RFC 2308 5. */
export const NEGATIVE_TTL = 60;

/** Converts a record for the wire format library; long texts become several character-strings. RFC 1035 3.3.14. */
export function packetRecord(name: string, record: ZoneRecord): Answer {
  const head = { name, ttl: TTL, class: 'IN' as const };
  switch (record.type) {
    case 'MX':
      return { ...head, type: 'MX', data: { preference: record.priority, exchange: record.value } };
    case 'TXT':
      return { ...head, type: 'TXT', data: characterStrings(record.value) };
    case 'SRV': {
      const { priority, weight, port, value: target } = record;
      return { ...head, type: 'SRV', data: { priority, weight, port, target } };
    }
    case 'TLSA': {
      const certificate = Buffer.from(record.value, 'hex');
      return { ...head, type: 'TLSA', data: { usage: 3, selector: 1, matchingType: 1, certificate } };
    }
    case 'A':
    case 'AAAA':
    case 'NS':
    case 'CNAME':
      return { ...head, type: record.type, data: record.value };
  }
}

/** Splits the text of a TXT record into strings of at most 255 octets. */
export function characterStrings(text: string): string[] {
  return text.match(/[^]{1,255}/g) ?? [''];
}

/** SOA record: for queries of type SOA, and in every negative response. RFC 2308 3. */
export function soaRecord({ apex, server }: Pick<ZoneAnswer, 'apex' | 'server'>): Answer {
  return {
    name: apex,
    type: 'SOA',
    class: 'IN',
    ttl: NEGATIVE_TTL,
    // There are no zone transfers, so the serial number is constant.
    data: {
      mname: server,
      rname: `postmaster.${server}`,
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 604_800,
      minimum: NEGATIVE_TTL,
    },
  };
}
