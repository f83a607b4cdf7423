/** Where the ten digits of scripts begin that mail is written in. */
const ZEROS = [
  0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0,
];

/** A text with digits, Latin letters, dashes and blanks as keyboards have them; each stands where it stood. */
export function plainDigits(text: string): string {
  return text.replace(
    /[\u0660-\u17e9\uff0d\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u2010-\u2015\u2212\u00a0\u2000-\u200a\u202f\u3000]/g,
    plainSign,
  );
}

function plainSign(sign: string): string {
  const code = sign.charCodeAt(0);
  if (code >= 0xff01) return String.fromCharCode(code - 0xfee0);
  if (code < 0x2000 && code !== 0xa0) {
    const zero = ZEROS.find((one) => code >= one && code < one + 10);
    return zero === undefined ? sign : String(code - zero);
  }
  return (code >= 0x2010 && code <= 0x2015) || code === 0x2212 ? '-' : ' ';
}
