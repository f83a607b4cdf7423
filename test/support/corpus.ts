import { CHARSET_SAMPLES } from './charset-samples.ts';

/** A message of a kind that real mailers make, with CRLF line ends unless that is what is wrong with it. */
export interface Sample {
  name: string;
  bytes: Buffer;
}

/** Over two hundred kinds of messages, the same ones in every run. */
export function corpus(): Sample[] {
  const groups = [charsets(), encodings(), structures(), brokenMime(), headers(), fileNames(), bodies()];
  return groups.flat();
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');

const DATE = 'Date: Fri, 20 Nov 2026 09:30:00 +0100\n';
const PEOPLE = 'From: Ann Example <ann@example.org>\nTo: Bob <bob@box.test>\n';
const MIME = 'MIME-Version: 1.0\n';

/** A message from lines that end in LF here and in CRLF there; each character is one octet. */
function mail(name: string, fields: string, body: string): Sample {
  const id = `Message-ID: <${name.replace(/[^a-z0-9]+/gi, '-')}@example.org>\n`;
  const own = /^message-id:/im.test(fields) ? '' : id;
  return { name, bytes: latin1(crlf(`${DATE}${PEOPLE}${own}${fields}\n${body}`)) };
}

/** Just those lines, nothing added. */
function raw(name: string, text: string): Sample {
  return { name, bytes: latin1(crlf(text)) };
}

function entity(fields: string, body: string): string {
  return `${fields}\n${body}`;
}

function multipart(boundary: string, ...parts: string[]): string {
  return `${parts.map((part) => `--${boundary}\n${part}\n`).join('')}--${boundary}--\n`;
}

function base64(text: string): string {
  return latin1(text)
    .toString('base64')
    .replace(/.{76}(?=.)/g, '$&\n');
}

function quoted(text: string): string {
  return text.replace(
    /[^\x20-\x3c\x3e-\x7e\n]/g,
    (c) => `=${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

const TEXT = entity('Content-Type: text/plain; charset=utf-8\n', 'Hello Bob,\n\nsee below.\n');
const HTML = entity('Content-Type: text/html; charset=utf-8\n', '<html><body><p>Hello <b>Bob</b></p></body></html>\n');
const PDF = entity(
  'Content-Type: application/pdf; name="a.pdf"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="a.pdf"\n',
  `${base64('%PDF-1.4 not really'.repeat(20))}\n`,
);
const PNG = entity(
  'Content-Type: image/png; name=logo.png\nContent-Transfer-Encoding: base64\nContent-ID: <logo@example.org>\nContent-Disposition: inline; filename=logo.png\n',
  `${base64('\x89PNG\r\n')}\n`,
);

function charsets(): Sample[] {
  return CHARSET_SAMPLES.flatMap(([label, octets], i) => {
    const type = label === '' ? 'text/plain' : `text/plain; charset=${i % 2 ? `"${label}"` : label}`;
    const word = `=?${label}?B?${latin1(octets).toString('base64')}?=`;
    const wire = (body: string): string =>
      `Subject: ${label === '' ? octets : word}\n${MIME}Content-Type: ${type}\n${body}`;
    const tag = `${label || 'no charset'} ${i}`;
    const plain = !/[\0\x1b]/.test(octets);
    return [
      mail(`base64 body in ${tag}`, wire('Content-Transfer-Encoding: base64\n'), `${base64(`${octets}\r\n`)}\n`),
      mail(
        `quoted-printable body in ${tag}`,
        wire('Content-Transfer-Encoding: quoted-printable\n'),
        `${quoted(octets)}\n`,
      ),
      ...(plain ? [mail(`8bit body in ${tag}`, wire('Content-Transfer-Encoding: 8bit\n'), `${octets}\n`)] : []),
    ];
  });
}

function encodings(): Sample[] {
  const table: [name: string, encoding: string, body: string][] = [
    ['7bit', '7bit', 'words\n'],
    ['8bit', '8bit', 'w\xc3\xb6rds\n'],
    ['binary', 'binary', 'words\n'],
    ['upper case', 'BASE64', `${base64('words\r\n')}\n`],
    ['with a comment', '(how) base64 (like this)', `${base64('words\r\n')}\n`],
    ['with a semicolon', '7bit;', 'words\n'],
    ['with a charset in its place', 'utf-8', 'words\n'],
    ['in quotes', '"quoted-printable"', 'w=F6rds\n'],
    ['uuencode', 'x-uuencode', "begin 644 a\n%=V]R9'-\n`\nend\n"],
    ['unknown', 'x-magic', 'words\n'],
    ['base64 without padding', 'base64', 'd29yZHM\n'],
    ['base64 with blanks and dirt', 'base64', 'd 2 9 y !! Z H M =\n'],
    ['base64 in two padded runs', 'base64', 'd29yZA==\nd29yZA==\n'],
    ['base64 on one long line', 'base64', `${Buffer.alloc(9000, 'word').toString('base64')}\n`],
    ['base64 that is none', 'base64', '!!!!\n'],
    ['quoted-printable with soft breaks', 'quoted-printable', 'wo=\nrds=20\nend=\n'],
    ['quoted-printable with lower case', 'quoted-printable', 'w=c3=b6rds\n'],
    ['quoted-printable broken', 'quoted-printable', 'a=G1 = =\n=3\n=\n'],
    ['quoted-printable with trailing blanks', 'quoted-printable', 'words   \t\nend=  \nx\n'],
    ['empty body', '7bit', ''],
    ['only line ends', '7bit', '\n\n\n\n'],
    ['no line end at the end', '7bit', 'words'],
  ];
  return table.map(([name, encoding, body]) =>
    mail(
      `encoding: ${name}`,
      `Subject: ${name}\n${MIME}Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: ${encoding}\n`,
      body,
    ),
  );
}

function structures(): Sample[] {
  const whole = (type: string, body: string): [string, string] => [`${MIME}Content-Type: ${type}\n`, body];
  const inner = `From: Eve <eve@example.net>\nTo: ann@example.org\nSubject: inner\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n${MIME}`;
  const attached = (body: string): string => entity('Content-Type: message/rfc822\n', body);
  const innerText = `${inner}Content-Type: text/plain\n\ninner text\n`;
  const innerMixed = `${inner}Content-Type: multipart/mixed; boundary=in\n\n${multipart('in', TEXT, PDF)}`;
  const alternative = entity('Content-Type: multipart/alternative; boundary=alt\n', multipart('alt', TEXT, HTML));
  const related = entity(
    'Content-Type: multipart/related; boundary=rel; type="text/html"\n',
    multipart('rel', HTML, PNG),
  );
  const signature = entity(
    'Content-Type: application/pgp-signature; name=signature.asc\n',
    '-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n',
  );
  const smime = entity(
    'Content-Type: application/pkcs7-signature; name=smime.p7s\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=smime.p7s\n',
    'MIIB\n',
  );
  const calendar = entity(
    'Content-Type: text/calendar; method=REQUEST; charset=utf-8\n',
    'BEGIN:VCALENDAR\nMETHOD:REQUEST\nEND:VCALENDAR\n',
  );
  const status = entity(
    'Content-Type: message/delivery-status\n',
    'Reporting-MTA: dns; mx.example.org\n\nFinal-Recipient: rfc822; x@example.org\nAction: failed\nStatus: 5.1.1\n',
  );
  const part = (type: string, body = 'data\n'): string => entity(`Content-Type: ${type}\n`, body);
  const deep = (levels: number): string => {
    let body = 'the bottom\n';
    let type = 'text/plain';
    for (let i = 0; i < levels; i++) {
      body = multipart(`level${i}`, entity(`Content-Type: ${type}\n`, body));
      type = `multipart/mixed; boundary=level${i}`;
    }
    return `${MIME}Content-Type: ${type}\n\n${body}`;
  };
  const chain = (levels: number): string => {
    let text = innerText;
    for (let i = 0; i < levels; i++) text = `Subject: level ${i}\n${MIME}Content-Type: message/rfc822\n\n${text}`;
    return text;
  };
  const table: [name: string, fields: string, body: string][] = [
    ['text and HTML', ...whole('multipart/alternative; boundary="b 1"', multipart('b 1', TEXT, HTML))],
    ['HTML only', ...whole('text/html; charset=utf-8', '<style>p{color:red}</style><p>Hi &amp; bye</p>\n')],
    ['text and attachment', ...whole('multipart/mixed; boundary=b', multipart('b', TEXT, PDF))],
    [
      'everything nested',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          entity('Content-Type: multipart/alternative; boundary=alt\n', multipart('alt', TEXT, related)),
          PDF,
        ),
      ),
    ],
    ['inline picture', ...whole('multipart/related; boundary=b', multipart('b', HTML, PNG))],
    ['related in alternative', ...whole('multipart/alternative; boundary=b', multipart('b', TEXT, related))],
    [
      'three alternatives',
      ...whole(
        'multipart/alternative; boundary=b',
        multipart('b', TEXT, part('text/enriched', '<bold>Hi</bold>\n'), HTML),
      ),
    ],
    [
      'two texts around a picture',
      ...whole('multipart/mixed; boundary=Apple-Mail-1', multipart('Apple-Mail-1', TEXT, PNG, TEXT)),
    ],
    ['forwarded message', ...whole('multipart/mixed; boundary=b', multipart('b', TEXT, attached(innerText)))],
    [
      'forwarded message with parts',
      ...whole('multipart/mixed; boundary=b', multipart('b', attached(innerMixed), TEXT)),
    ],
    ['message as the whole body', ...whole('message/rfc822', innerMixed)],
    ['forward of a forward', ...whole('message/rfc822', chain(1))],
    ['five messages in each other', ...whole('message/rfc822', chain(5))],
    ['twenty messages in each other', ...whole('message/rfc822', chain(19))],
    [
      'attached message in base64',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          entity('Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n', `${base64(innerText)}\n`),
        ),
      ),
    ],
    [
      'attached message without a header',
      ...whole('multipart/mixed; boundary=b', multipart('b', attached('\njust text\n'))),
    ],
    ['attached message that is empty', ...whole('multipart/mixed; boundary=b', multipart('b', attached('')))],
    [
      'attached message/global',
      ...whole('multipart/mixed; boundary=b', multipart('b', entity('Content-Type: message/global\n', innerText))),
    ],
    [
      'attached message, boundary shared with outside',
      ...whole('multipart/mixed; boundary=in', multipart('in', attached(innerMixed))),
    ],
    ['digest', ...whole('multipart/digest; boundary=b', multipart('b', entity('', innerText), entity('', innerMixed)))],
    [
      'digest with a typed member',
      ...whole('multipart/digest; boundary=b', multipart('b', TEXT, entity('', innerText))),
    ],
    [
      'PGP/MIME signed',
      ...whole(
        'multipart/signed; micalg=pgp-sha256; protocol="application/pgp-signature"; boundary=b',
        multipart('b', TEXT, signature),
      ),
    ],
    [
      'PGP/MIME encrypted',
      ...whole(
        'multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b',
        multipart(
          'b',
          part('application/pgp-encrypted', 'Version: 1\n'),
          part('application/octet-stream; name=encrypted.asc', '-----BEGIN PGP MESSAGE-----\n'),
        ),
      ),
    ],
    [
      'PGP in the text',
      ...whole(
        'text/plain',
        '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- -- dashes\n-----BEGIN PGP SIGNATURE-----\n',
      ),
    ],
    [
      'S/MIME signed',
      ...whole(
        'multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="----B"',
        multipart('----B', alternative, smime),
      ),
    ],
    ['S/MIME opaque', ...whole('application/pkcs7-mime; smime-type=signed-data; name=smime.p7m', 'MIIB\n')],
    [
      'S/MIME enveloped',
      `${MIME}Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="smime.p7m"\n`,
      'MIIB\n',
    ],
    [
      'invitation',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          entity('Content-Type: multipart/alternative; boundary=alt\n', multipart('alt', TEXT, HTML, calendar)),
          part('application/ics; name=invite.ics'),
        ),
      ),
    ],
    ['calendar only', ...whole('text/calendar; method=CANCEL', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n')],
    [
      'contact card',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart('b', TEXT, part('text/vcard; name=ann.vcf', 'BEGIN:VCARD\nEND:VCARD\n')),
      ),
    ],
    [
      'delivery report',
      ...whole(
        'multipart/report; report-type=delivery-status; boundary=b',
        multipart('b', TEXT, status, attached(innerText)),
      ),
    ],
    [
      'delivery report with headers',
      ...whole(
        'multipart/report; report-type=delivery-status; boundary=b',
        multipart('b', TEXT, status, part('text/rfc822-headers', inner)),
      ),
    ],
    [
      'internationalized delivery report',
      ...whole(
        'multipart/report; report-type=delivery-status; boundary=b',
        multipart(
          'b',
          TEXT,
          part('message/global-delivery-status', 'Final-Recipient: utf-8; \xc3\xbc@example.org\n'),
          part('message/global-headers', inner),
        ),
      ),
    ],
    [
      'read receipt',
      ...whole(
        'multipart/report; report-type=disposition-notification; boundary=b',
        multipart(
          'b',
          TEXT,
          part(
            'message/disposition-notification',
            'Final-Recipient: rfc822;bob@box.test\nDisposition: manual-action/MDN-sent-manually; displayed\n',
          ),
        ),
      ),
    ],
    [
      'abuse report',
      ...whole(
        'multipart/report; report-type=feedback-report; boundary=b',
        multipart(
          'b',
          TEXT,
          part('message/feedback-report', 'Feedback-Type: abuse\nVersion: 1\n'),
          attached(innerText),
        ),
      ),
    ],
    [
      'DMARC report',
      `${MIME}Subject: Report domain: box.test\nContent-Type: application/gzip; name="r.xml.gz"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="r.xml.gz"\n`,
      'H4sIAAAA\n',
    ],
    [
      'qmail bounce',
      `Subject: failure notice\n`,
      'Hi. This is the qmail-send program at mx.example.org.\n<x@example.org>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nSubject: x\n\nbody\n',
    ],
    [
      'TNEF',
      ...whole(
        'multipart/mixed; boundary="----_=_NextPart_001"',
        multipart(
          '----_=_NextPart_001',
          TEXT,
          entity(
            'Content-Type: application/ms-tnef; name="winmail.dat"\nContent-Transfer-Encoding: base64\n',
            'eJ8+IhAA\n',
          ),
        ),
      ),
    ],
    [
      'part of a partial message',
      ...whole('message/partial; id="abc@example.org"; number=2; total=3', 'middle of it\n'),
    ],
    [
      'first part of a partial message',
      ...whole('message/partial; id="abc@example.org"; number=1; total=3', innerText),
    ],
    [
      'external body',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          entity(
            'Content-Type: message/external-body; access-type=URL; URL="ftp://example.org/a"\n',
            'Content-Type: image/gif\nContent-ID: <x@y>\n\n',
          ),
        ),
      ),
    ],
    [
      'AppleDouble',
      ...whole(
        'multipart/appledouble; boundary=b',
        multipart('b', part('application/applefile; name="a"'), part('application/pdf; name="a"')),
      ),
    ],
    [
      'AppleSingle and BinHex',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          part('application/applefile'),
          part('application/mac-binhex40', '(This file must be converted with BinHex 4.0)\n'),
        ),
      ),
    ],
    ['parallel', ...whole('multipart/parallel; boundary=b', multipart('b', TEXT, part('audio/basic')))],
    [
      'form data',
      ...whole(
        'multipart/form-data; boundary=b',
        multipart('b', entity('Content-Disposition: form-data; name="x"\n', '1\n')),
      ),
    ],
    ['header set', ...whole('multipart/header-set; boundary=b', multipart('b', TEXT, part('application/rdf')))],
    ['unknown multipart', ...whole('multipart/x-strange; boundary=b', multipart('b', TEXT, TEXT))],
    ['unknown type', ...whole('chemical/x-pdb; name=h2o.pdb', 'ATOM\n')],
    [
      'AMP',
      ...whole(
        'multipart/alternative; boundary=b',
        multipart('b', TEXT, part('text/x-amp-html', '<!doctype html><html amp4email></html>\n'), HTML),
      ),
    ],
    [
      'preamble and epilogue',
      ...whole(
        'multipart/mixed; boundary=b',
        `This is a multi-part message in MIME format.\n${multipart('b', TEXT)}The end.\n`,
      ),
    ],
    ['blank lines around delimiters', ...whole('multipart/mixed; boundary=b', `\n\n${multipart('b', TEXT, TEXT)}\n\n`)],
    [
      'padding behind delimiters',
      ...whole('multipart/mixed; boundary=b', `--b \t\n${TEXT}\n--b   \n${TEXT}\n--b-- \t \n`),
    ],
    ['parts with empty headers', ...whole('multipart/mixed; boundary=b', multipart('b', '\nfirst\n', '\nsecond\n'))],
    ['empty parts', ...whole('multipart/mixed; boundary=b', '--b\n\n--b\n\n\n--b\n--b--\n')],
    ['one part', ...whole('multipart/mixed; boundary=b', multipart('b', TEXT))],
    [
      'hundred parts',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart('b', ...Array.from({ length: 100 }, (_, i) => part(`text/plain; name=p${i}`, `part ${i}\n`))),
      ),
    ],
    ['nested 10 deep', deep(10).split('\n\n', 1)[0] + '\n', deep(10).slice(deep(10).indexOf('\n\n') + 2)],
    ['nested 45 deep', deep(45).split('\n\n', 1)[0] + '\n', deep(45).slice(deep(45).indexOf('\n\n') + 2)],
    [
      'all MIME fields',
      `${MIME}Content-Type: text/plain; charset=utf-8\nContent-ID: <id@example.org>\nContent-Description: a "described" part\nContent-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==\nContent-Language: en, de-CH\nContent-Location: http://example.org/a b\nContent-Disposition: inline; filename=x; size=4\n`,
      'text\n',
    ],
    [
      'MIME fields in the parts',
      ...whole(
        'multipart/mixed; boundary=b',
        multipart(
          'b',
          entity(
            'Content-Type: text/plain\nContent-Description: =?utf-8?Q?gr=C3=BCn?=\nContent-Language: fr\nContent-Location: a.txt\nContent-MD5: x\nContent-ID: <a@b>\n',
            'x\n',
          ),
        ),
      ),
    ],
  ];
  return table.map(([name, fields, body]) =>
    mail(name, /^subject:/im.test(fields) ? fields : `Subject: ${name}\n${fields}`, body),
  );
}

function brokenMime(): Sample[] {
  const two = '--b\n\nfirst\n--b\n\nsecond\n';
  const table: [name: string, type: string, body: string][] = [
    ['closing delimiter missing', 'multipart/mixed; boundary=b', two],
    ['cut in a part header', 'multipart/mixed; boundary=b', '--b\n\nfirst\n--b\nContent-Type: text/ht'],
    ['cut in a delimiter', 'multipart/mixed; boundary=b', '--b\n\nfirst\n--'],
    ['no delimiter at all', 'multipart/mixed; boundary=b', 'just text\n'],
    ['no body at all', 'multipart/mixed; boundary=b', ''],
    ['only the closing delimiter', 'multipart/mixed; boundary=b', '--b--\n'],
    ['no boundary parameter', 'multipart/mixed', two],
    ['empty boundary', 'multipart/mixed; boundary=""', '--\n\nfirst\n----\n'],
    ['boundary of blanks', 'multipart/mixed; boundary="  "', '--  \n\nfirst\n'],
    ['boundary with a blank at its end', 'multipart/mixed; boundary="b "', '--b \n\nfirst\n--b --\n'],
    ['boundary of 70', `multipart/mixed; boundary=${'x'.repeat(70)}`, multipart('x'.repeat(70), TEXT)],
    ['boundary of 200', `multipart/mixed; boundary=${'x'.repeat(200)}`, multipart('x'.repeat(200), TEXT)],
    ['boundary of 300', `multipart/mixed; boundary=${'x'.repeat(300)}`, multipart('x'.repeat(300), TEXT)],
    [
      'boundary with odd characters',
      `multipart/mixed; boundary="=_'()+_,-./:=?"`,
      multipart(`=_'()+_,-./:=?`, TEXT, HTML),
    ],
    [
      'boundary unquoted with odd characters',
      'multipart/mixed; boundary=----=_Part_1.2',
      multipart('----=_Part_1.2', TEXT),
    ],
    ['boundary of dashes', 'multipart/mixed; boundary="--"', multipart('--', TEXT, TEXT)],
    ['boundary that ends in dashes', 'multipart/mixed; boundary="b--"', multipart('b--', TEXT, TEXT)],
    ['boundary in RFC 2231', 'multipart/mixed; boundary*0=a; boundary*1=b', multipart('ab', TEXT)],
    ['boundary twice', 'multipart/mixed; boundary=b; boundary=c', two],
    [
      'inner boundary begins with the outer',
      'multipart/mixed; boundary=b',
      multipart('b', entity('Content-Type: multipart/mixed; boundary=bb\n', multipart('bb', TEXT)), TEXT),
    ],
    [
      'outer boundary begins with the inner',
      'multipart/mixed; boundary=bb',
      multipart('bb', entity('Content-Type: multipart/mixed; boundary=b\n', multipart('b', TEXT)), TEXT),
    ],
    [
      'inner boundary is the outer',
      'multipart/mixed; boundary=b',
      multipart('b', entity('Content-Type: multipart/mixed; boundary=b\n', multipart('b', TEXT)), TEXT),
    ],
    [
      'inner not closed',
      'multipart/mixed; boundary=b',
      `--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ninner\n--b\n\nouter\n--b--\n`,
    ],
    [
      'outer closed in inner',
      'multipart/mixed; boundary=b',
      `--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ninner\n--b--\n--c--\n`,
    ],
    ['delimiter after the closing one', 'multipart/mixed; boundary=b', `${multipart('b', TEXT)}--b\n\nlate\n`],
    ['text behind a delimiter', 'multipart/mixed; boundary=b', '--b garbage\n\nfirst\n--b\n\nsecond\n--b--\n'],
    ['text behind the closing delimiter', 'multipart/mixed; boundary=b', '--b\n\nfirst\n--b-- the end\n'],
    ['delimiter indented', 'multipart/mixed; boundary=b', '--b\n\nfirst\n --b\n\nstill first\n--b--\n'],
    ['delimiter ends a header', 'multipart/mixed; boundary=b', '--b\nContent-Type: text/html\n--b\n\nsecond\n--b--\n'],
    [
      'delimiter ends the header of an attached message',
      'multipart/mixed; boundary=b',
      '--b\nContent-Type: message/rfc822\n--b\nContent-Type: message/rfc822\n\nSubject: x\n--b--\n',
    ],
    [
      'part header without empty line',
      'multipart/mixed; boundary=b',
      '--b\nContent-Type: text/plain\ntext at once\n--b--\n',
    ],
    [
      'part header that begins with a blank',
      'multipart/mixed; boundary=b',
      '--b\n Content-Type: text/html\n\nx\n--b--\n',
    ],
    ['encoded multipart', 'multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64', two],
    ['type with a missing semicolon', 'multipart/mixed boundary=b', `${two}--b--\n`],
    ['type with a blank in it', 'text / plain', 'x\n'],
    ['type without a slash', 'text', 'x\n'],
    ['type that is a file name', 'a.pdf', 'x\n'],
    ['type empty', '', 'x\n'],
    ['type with a trailing slash', 'text/', 'x\n'],
    ['type in odd case', 'TeXt/HtMl; ChArSeT=UTF-8', '<p>x</p>\n'],
    ['type with comments', '(a) text/plain (b(c)); (d) charset (e) = (f) utf-8 (g)', 'x\n'],
    ['type with a folded parameter', 'text/plain;\n\tcharset="utf-8";\n format=flowed', 'x\n'],
    ['parameters without values', 'text/plain; charset; format=; =x; ;;', 'x\n'],
    ['parameter with an open quote', 'text/plain; name="open; charset=utf-8', 'x\n'],
    ['parameter with escaped quotes', 'text/plain; name="a\\"b\\\\c"', 'x\n'],
    ['charset in quotes twice', `text/plain; charset="'utf-8'"`, 'x\n'],
    ['declared twice', 'text/plain\nContent-Type: text/html', '<p>x</p>\n'],
    [
      'message/rfc822 with a multipart encoding',
      'message/rfc822\nContent-Transfer-Encoding: quoted-printable',
      'Subject: x\n\ny=20\n',
    ],
    [
      'lines that look like delimiters',
      'multipart/mixed; boundary=b',
      '--b\n\n-- \nsignature\n---\n--\n--bb\n--c\n--b--\n',
    ],
  ];
  return table.map(([name, type, body]) =>
    mail(`broken: ${name}`, `Subject: ${name}\n${MIME}Content-Type: ${type}\n`, body),
  );
}

function headers(): Sample[] {
  const to = (name: string, value: string): Sample =>
    raw(`To: ${name}`, `${DATE}From: ann@example.org\nTo: ${value}\nSubject: x\n\nx\n`);
  const from = (name: string, value: string): Sample =>
    raw(`From: ${name}`, `${DATE}From: ${value}\nTo: bob@box.test\n\nx\n`);
  const subject = (name: string, value: string): Sample =>
    raw(`Subject: ${name}`, `${DATE}${PEOPLE}Subject: ${value}\n\nx\n`);
  const date = (name: string, value: string): Sample => raw(`Date: ${name}`, `Date: ${value}\n${PEOPLE}\nx\n`);
  return [
    to('group', 'Friends: ann@example.org, "Bob B." <bob@box.test>;'),
    to('empty group', 'undisclosed-recipients:;'),
    to('empty group without a colon', 'undisclosed-recipients'),
    to('two groups and an address', 'a:b@c.example;, x@y.example, d: e@f.example, g@h.example;'),
    to('group not closed', 'Friends: ann@example.org, bob@box.test'),
    to('quoted local part', '"john doe"@example.org, "a\\"b@c"@example.org'),
    to('route', '<@a.example,@b.example:joe@c.example>'),
    to('domain literal', 'joe@[192.0.2.1], <joe@[IPv6:2001:db8::1]>'),
    to('comments everywhere', '(c1) joe (c2(nested)) @ (c3) example.org (Joe \\) Q)'),
    to('old style name', 'joe@example.org (Joe Q. Public)'),
    to('blanks in the address', 'joe . blow @ example . org'),
    to('no domain', 'root, "Joe" <joe>'),
    to('no angle close', 'Joe <joe@example.org, bob@box.test'),
    to('two at signs', 'joe@x@example.org'),
    to('semicolons as separators', 'a@example.org; b@example.org; c@example.org'),
    to('empty members', ',, a@example.org,,b@example.org,'),
    to('comma in an encoded word', '=?utf-8?Q?Doe,_John?= <john@example.org>, b@example.org'),
    to('name behind', '<john@example.org> John Doe'),
    to('dots in the name', 'John Q. Public <john@example.org>'),
    to('raw 8-bit name', 'J\xc3\xb6rg <joerg@example.org>, Ren\xe9 <rene@example.org>'),
    to(
      'internationalized address',
      '\xe7\x94\xa8\xe6\x88\xb7 <\xe7\x94\xa8\xe6\x88\xb7@\xe4\xbe\x8b\xe5\xad\x90.\xe5\xb9\xbf\xe5\x91\x8a>',
    ),
    to('a thousand', Array.from({ length: 1000 }, (_, i) => `user${i}@example.org`).join(',\n ')),
    to('only a comment', '(nobody)'),
    to('empty', ''),
    to('backslashes and quotes', '"a\\\\b \\"c\\"" <x@example.org>'),
    to('twice', 'a@example.org\nTo: b@example.org'),
    from('empty', ''),
    from('null path', '<>'),
    from('two authors', 'a@example.org, b@example.org'),
    from('twice', 'a@example.org\nFrom: b@example.org'),
    from('name is an address', '"ceo@bank.example" <mallory@example.net>'),
    from('encoded name', '=?iso-8859-1?Q?Andr=E9?= Pirard <PIRARD@vm1.ulg.ac.be>'),
    from('encoded name in quotes', '"=?utf-8?B?SsO2cmc=?=" <joerg@example.org>'),
    from('old cron', 'root (Cron Daemon)'),
    subject('missing words', ''),
    subject('encoded in many words', Array.from({ length: 20 }, (_, i) => `=?utf-8?Q?w=C3=B6rd_${i}_?=`).join('\n ')),
    subject('character cut in two words', '=?utf-8?B?5L2g5Q==?=\n =?utf-8?B?pb0=?='),
    subject('broken encoded words', '=?utf-8?X?abc?= =?utf-8?B?abc =?? =?=?='),
    subject('word with a language', '=?utf-8*en?Q?hello?='),
    subject('raw 8-bit', 'Gr\xc3\xbc\xc3\x9fe'),
    subject('raw latin-1', 'Gr\xfc\xdfe'),
    subject('folded with tabs', 'one\n\ttwo\n   three'),
    subject('quotes and backslashes', 'say "hi" \\ bye'),
    subject('very long', 'x'.repeat(2000)),
    subject('reply chain', 'Re: [list] AW: Fwd: [Fwd: Re[2]: hello (fwd)]'),
    subject('hidden characters', '=?utf-8?Q?a=E2=80=AEb=E2=80=8Bc?='),
    subject('literal in it', '{5}\n )'),
    date('obsolete zone', 'Fri, 20 Nov 26 09:30 EST'),
    date('no day name', '20 Nov 2026 09:30:00 -0800'),
    date('comment', 'Fri, 20 Nov 2026 09:30:00 +0000 (GMT)'),
    date('asctime', 'Fri Nov 20 09:30:00 2026'),
    date('ISO', '2026-11-20T09:30:00Z'),
    date('nonsense', 'yesterday'),
    date('impossible', 'Fri, 99 Nov 2026 99:99:99 +9999'),
    date('twice', 'Fri, 20 Nov 2026 09:30:00 +0000\nDate: Sat, 21 Nov 2026 09:30:00 +0000'),
    raw('empty message', ''),
    raw('one empty line', '\n'),
    raw('header only', `${DATE}${PEOPLE}`),
    raw('header only, no last line end', `${DATE}From: a@example.org`),
    raw('body only', '\nbody\n'),
    raw('no empty line before the body', `${DATE}${PEOPLE}Subject: x\nthis is the body\nof it\n`),
    raw('no header, no empty line', 'this is not a header\nat all\n'),
    raw('mbox line on top', `From ann@example.org Fri Nov 20 09:30:00 2026\n${DATE}${PEOPLE}\nx\n`),
    raw('mbox line on top, quoted', `>From ann@example.org Fri Nov 20 09:30:00 2026\n${DATE}${PEOPLE}\nx\n`),
    raw('begins with a continuation', ` folded\n${DATE}${PEOPLE}\nx\n`),
    raw('blanks before colons', 'Date : Fri, 20 Nov 2026 09:30:00 +0000\nFrom\t: a@example.org\nSubject : x\n\nx\n'),
    raw('odd case', 'DATE: Fri, 20 Nov 2026 09:30:00 +0000\nfROM: a@example.org\nSUBJECT: x\n\nx\n'),
    raw('line of blanks in the header', `${DATE}Subject: x\n \n\t\nFrom: a@example.org\n\nx\n`),
    raw('no sender', `${DATE}To: bob@box.test\nSubject: x\n\nx\n`),
    raw('no date and no id', `${PEOPLE}Subject: x\n\nx\n`),
    raw(
      'sender and reply-to',
      `${DATE}${PEOPLE}Sender: s@example.org\nReply-To: r1@example.org, r2@example.org\nBcc: hidden@example.org\n\nx\n`,
    ),
    raw(
      'reply with references',
      `${DATE}${PEOPLE}Message-ID: <c@x>\nIn-Reply-To: <b@x>\nReferences: <a@x>\n <b@x>\n\nx\n`,
    ),
    raw('reply to words', `${DATE}${PEOPLE}In-Reply-To: Your message of Friday <b@x> (mail)\n\nx\n`),
    raw('id without brackets', `${DATE}${PEOPLE}Message-ID: abc@example.org\n\nx\n`),
    raw('id quoted and folded', `${DATE}${PEOPLE}Message-ID:\n <"a b"@example.org>\nReferences: <a\n b@x>\n\nx\n`),
    raw('two ids', `${DATE}${PEOPLE}Message-ID: <a@x>\nMessage-ID: <b@x>\n\nx\n`),
    raw(
      'a hundred Received',
      `${'Received: from a by b; Fri, 20 Nov 2026 09:30:00 +0000\n'.repeat(100)}${DATE}${PEOPLE}\nx\n`,
    ),
    raw(
      'two thousand fields',
      `${DATE}${PEOPLE}${Array.from({ length: 2000 }, (_, i) => `X-${i}: y\n`).join('')}\nx\n`,
    ),
    raw('field of 120,000', `${DATE}${PEOPLE}X-Long: ${'y'.repeat(120_000)}\nSubject: x\n\nx\n`),
    raw(
      'mailing list',
      `Received: by lists.example.org\nList-Id: Talk <talk.lists.example.org>\nList-Unsubscribe: <mailto:talk-leave@lists.example.org>, <https://lists.example.org/u>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\nPrecedence: list\nErrors-To: talk-bounces@lists.example.org\n${DATE}From: Ann via Talk <talk@lists.example.org>\nReply-To: Ann <ann@example.org>\nTo: talk@lists.example.org\nSubject: [Talk] hello\n\nhello\n_______________________________________________\nTalk mailing list\n`,
    ),
    raw(
      'DKIM and ARC',
      `ARC-Seal: i=1; a=rsa-sha256; d=example.org; s=x; cv=none; b=AAAA\n BBBB\nDKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=x;\n\th=from:to; bh=x=; b=y=\nAuthentication-Results: mx.example.org; dkim=pass\n${DATE}${PEOPLE}\nx\n`,
    ),
    {
      name: 'bare line feeds',
      bytes: latin1(`${DATE}${PEOPLE}${MIME}Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b--\n`),
    },
    {
      name: 'mixed line ends',
      bytes: latin1(
        `${DATE}${crlf(PEOPLE)}${MIME}Content-Type: multipart/mixed; boundary=b\r\n\n--b\r\n\nfirst\r\n--b\n\r\nsecond\n--b--\r\n`,
      ),
    },
  ];
}

function fileNames(): Sample[] {
  const table: [name: string, disposition: string, type?: string][] = [
    ['token', 'attachment; filename=a.txt'],
    ['quoted', 'attachment; filename="a b.txt"'],
    ['blanks without quotes', 'attachment; filename=my file.pdf'],
    ['parenthesis without quotes', 'attachment; filename=a(1).pdf'],
    ['RFC 2231', "attachment; filename*=UTF-8''gr%C3%BCn.txt"],
    ['RFC 2231 latin-1', "attachment; filename*=iso-8859-1'de'gr%FCn.txt"],
    ['RFC 2231 without a charset', 'attachment; filename*=gr%C3%BCn.txt'],
    ['RFC 2231 continued', "attachment; filename*0*=UTF-8''gr%C3; filename*1*=%BCn; filename*2=.txt"],
    ['RFC 2231 continued out of order', 'attachment; filename*1=b.txt; filename*0=a'],
    ['RFC 2231 with a gap', 'attachment; filename*0=a; filename*2=c'],
    ['RFC 2231 and plain', "attachment; filename=gruen.txt; filename*=UTF-8''gr%C3%BCn.txt"],
    [
      'RFC 2231 in many pieces',
      Array.from({ length: 60 }, (_, i) => `filename*${i}=p`)
        .join('; ')
        .replace(/^/, 'attachment; '),
    ],
    ['RFC 2047', 'attachment; filename="=?utf-8?B?Z3LDvG4udHh0?="'],
    ['RFC 2047 without quotes', 'attachment; filename==?utf-8?Q?gr=C3=BCn.txt?='],
    ['raw UTF-8', 'attachment; filename="gr\xc3\xbcn.txt"'],
    ['raw latin-1', 'attachment; filename="gr\xfcn.txt"'],
    ['path', 'attachment; filename="C:\\\\temp\\\\..\\\\a.txt"'],
    ['hidden direction', "attachment; filename*=utf-8''a%E2%80%AEcod.exe"],
    ['empty', 'attachment; filename=""'],
    ['only in the type', 'attachment', 'application/octet-stream; name="typed.bin"'],
    ['encoded in the type', 'attachment', 'application/octet-stream; name="=?koi8-r?B?8NLJ18XU?="'],
    ['inline', 'inline; filename=a.png', 'image/png'],
    ['inline document', 'inline; filename=a.pdf', 'application/pdf'],
    ['upper case', 'ATTACHMENT; FILENAME=A.TXT'],
    ['no word', '; filename=a.txt'],
    ['all parameters', 'attachment; filename=a.txt; size=10; creation-date="Fri, 20 Nov 2026 09:30:00 +0000"; x'],
  ];
  return table.map(([name, disposition, type = 'application/octet-stream']) =>
    mail(
      `file name: ${name}`,
      `Subject: ${name}\n${MIME}Content-Type: multipart/mixed; boundary=b\n`,
      multipart('b', TEXT, entity(`Content-Type: ${type}\nContent-Disposition: ${disposition}\n`, 'data\n')),
    ),
  );
}

function bodies(): Sample[] {
  const text = (name: string, body: string, type = 'text/plain; charset=utf-8'): Sample =>
    mail(`body: ${name}`, `Subject: ${name}\n${MIME}Content-Type: ${type}\nContent-Transfer-Encoding: 8bit\n`, body);
  return [
    text('format=flowed', 'a line that goes \non\n> quoted \n> words\n', 'text/plain; format=flowed; delsp=yes'),
    text('leading dots', '.\n..\n.words\n'),
    text('From in the text', 'From here on\n>From there\n'),
    text('long line', `${'word '.repeat(4000)}\n`),
    text('very long word', `${'x'.repeat(100_000)}\n`),
    text('tabs and form feeds', 'a\tb\fc\vd\n'),
    text('escape sequences', '\x1b[31mred\x1b[0m\x07\n'),
    text('protocol in it', ')\na OK done\n* 1 EXISTS\n{10}\n{"a":1}\n'),
    text('zero-width and bidi', 'a\xe2\x80\x8bb\xe2\x80\xaec\xef\xbb\xbfd\n'),
    text('emoji', '\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb \xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\n'.repeat(60)),
    text('invalid UTF-8', 'a\xffb\xc3(\xf0\x9f\n'),
    text('lone surrogates', 'a\xed\xa0\x80b\n'),
    text('blank lines first', '\n\n\n   \nwords\n'),
    text('quoted reply', '> old\n> words\n\nnew words\n'),
    text('signature only', '-- \nAnn\n'),
    text(
      'HTML with a long head',
      `<html><head><style>${'p{} '.repeat(4000)}</style><title>T</title></head><body>words</body></html>`,
      'text/html',
    ),
    text('HTML broken', '<p>a < b <b>bold<i <script>x</script> &amp &#x41; &#99999999; &unknown; <!-- c', 'text/html'),
    text('HTML unclosed comment', '<p>seen<!-- unseen', 'text/html'),
    text('HTML entities', '<p>&auml;&nbsp;&euro;&#8364;&#x20AC;</p>', 'text/html; charset=us-ascii'),
    text('HTML without text', '<img src="cid:x"><br>\n', 'text/html'),
    text('UTF-8 with a mark', '\xef\xbb\xbfwords\n'),
    text('base64 look-alike', 'd29yZHM=\n'),
  ];
}

/** Large or hostile messages, made when asked for. */
export const BOMBS: readonly { name: string; make: () => Buffer }[] = [
  { name: '20 MB attachment', make: () => attachment(20_000_000) },
  { name: 'nested 10,000 deep', make: () => nested(10_000) },
  {
    name: 'a million empty parts',
    make: () => repeated('Content-Type: multipart/mixed; boundary=b\r\n\r\n', '--b\r\n\r\n', 1_000_000),
  },
  {
    name: 'identical boundaries nested',
    make: () =>
      repeated(
        'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
        '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
        100_000,
      ),
  },
  { name: 'messages in messages', make: () => repeated('', 'Content-Type: message/rfc822\r\n\r\n', 100_000) },
  { name: 'a million addresses', make: () => repeated('To: x@y', ',\r\n a@b.example', 1_000_000) },
  { name: '100,000 references', make: () => repeated('References:', '\r\n <abcdef@example.org>', 100_000) },
  { name: 'one field of 5 MB', make: () => repeated('Subject: ', 'x', 5_000_000) },
  {
    name: 'one line of 10 MB',
    make: () => repeated('Content-Type: multipart/mixed; boundary=b\r\n\r\n--', 'b', 10_000_000),
  },
  { name: 'dashes', make: () => repeated('Content-Type: multipart/mixed; boundary=b\r\n\r\n', '--\r\n', 5_000_000) },
  {
    name: 'empty lines',
    make: () => repeated('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n', '\n', 25_000_000),
  },
  { name: 'a million fields', make: () => repeated('', 'a:\r\n', 1_000_000) },
  {
    name: '100,000 continuations',
    make: () => repeated('Content-Type: text/plain', (i) => `;\r\n name*${i}=x`, 100_000),
  },
  { name: 'encoded words', make: () => repeated('Subject:', '\r\n =?utf-8?Q?a?=', 100_000) },
  { name: 'encoded words that never end', make: () => repeated('Subject: ', '=?utf-8?Q?', 20_000) },
  { name: 'open comments', make: () => repeated('To: ', '(', 1_000_000) },
  { name: 'open quotes', make: () => repeated('To: ', '"', 1_000_000) },
  {
    name: 'parts with long names',
    make: () =>
      repeated(
        'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
        `--b\r\nContent-Type: a/b; name="${'\xfc'.repeat(20_000)}"\r\n\r\n`,
        900,
      ),
  },
];

function attachment(size: number): Buffer {
  const line = `${'QUJD'.repeat(19)}\r\n`;
  const head =
    'Subject: big\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee attached\r\n--b\r\nContent-Type: video/mp4; name=a.mp4\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.mp4\r\n\r\n';
  return latin1(`${head}${line.repeat(Math.ceil(size / line.length))}--b--\r\n`);
}

function nested(levels: number): Buffer {
  let out = 'Content-Type: multipart/mixed; boundary=b0\r\n\r\n';
  for (let i = 1; i <= levels; i++) out += `--b${i - 1}\r\nContent-Type: multipart/mixed; boundary=b${i}\r\n\r\n`;
  return latin1(out);
}

function repeated(head: string, unit: string | ((i: number) => string), times: number): Buffer {
  if (typeof unit === 'string') return Buffer.concat([latin1(head), Buffer.alloc(unit.length * times, unit, 'latin1')]);
  return latin1(head + Array.from({ length: times }, (_, i) => unit(i)).join(''));
}
