import { ago, formatTable } from './output.ts';
import { withoutArguments, oneArgument, operationCall, type Verb } from './verb.ts';

interface Listed {
  automatic: boolean;
  selfSigned: boolean;
  certificates: {
    name: string;
    algorithm: string;
    status: string;
    names: string[];
    notAfter: string | null;
    error: string | null;
    retryAt: string | null;
    refusedNames: { name: string; error: string }[];
  }[];
  tlsa: string[];
}

/** Commands for certificates of the ACME authority. */
export const CERTIFICATE_VERBS: readonly Verb[] = [
  {
    words: 'certificate list',
    usage: '',
    about: 'List automatic certificates, with failures and TLSA records',
    parse: operationCall('list_certificates', withoutArguments),
    show: (listed: Listed) => shown(listed).join('\n'),
  },
  {
    words: 'certificate renew',
    usage: 'NAME',
    about: 'Order a certificate now',
    parse: operationCall('renew_certificate', oneArgument('name')),
    show: () => 'ordered within a minute: mailstead certificate list shows the result',
  },
];

function shown({ automatic, selfSigned, certificates, tlsa }: Listed): string[] {
  if (!automatic) {
    const own = selfSigned ? 'The certificate is self-signed.' : 'The certificate is that of MAILSTEAD_TLS_CERT.';
    return [`${own} Automatic certificates are off: set MAILSTEAD_ACME_EMAIL.`];
  }
  const rows = certificates.map((one) => [
    one.name,
    one.algorithm,
    one.status,
    one.notAfter ?? '-',
    one.names.join(' '),
  ]);
  const failures = certificates.flatMap(({ name, error, retryAt, refusedNames }) => [
    ...(error === null
      ? []
      : [`${name}: ${error}${retryAt === null ? '' : `; next order in ${ago(2 * Date.now() - Date.parse(retryAt))}`}`]),
    ...refusedNames.map((one) => `${one.name} is left out: ${one.error}`),
  ]);
  const records = tlsa.map((one) => `TLSA ${one}`);
  return [formatTable(['name', 'key', 'status', 'expires', 'names'], rows), ...failures, ...records];
}
