import { describe, expect, test } from 'vitest';
import { replaceLinks } from '../../../src/reading/replace-links.ts';
import { LinkRegistry, urlOf } from '../../../src/reading/link-registry.ts';
import { findCode } from '../../../src/waiting/codes/code-finder.ts';
import { findConfirmationLink } from '../../../src/waiting/codes/link-finder.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

/** Sign-up mails as sites write them: language, subject, text, the code. */
const MAILS: readonly (readonly [string, string, string, string])[] = [
  [
    'English',
    'Verify your email',
    'Hi Sam,\n\nYour verification code is:\n\n482913\n\nIt expires in 10 minutes. Order 20261121 is not affected.',
    '482913',
  ],
  [
    'English, in the subject',
    '829104 is your Shop code',
    'Use it within 15 minutes. © 2026 Shop Inc, 1600 Amphitheatre Way, CA 94043',
    '829104',
  ],
  [
    'German',
    'Dein Bestätigungscode',
    'Hallo,\n\ndein Bestätigungscode lautet: 739 201\n\nEr gilt 30 Minuten. Deine Kundennummer: 448812',
    '739201',
  ],
  [
    'French',
    'Votre code de vérification',
    'Bonjour,\n\nVoici votre code : 508217. Il expire dans 20 minutes.\nCommande 7781234',
    '508217',
  ],
  [
    'Spanish',
    'Código de verificación',
    'Tu código de verificación es 661204.\nNo lo compartas. Tel. 915 123 456',
    '661204',
  ],
  ['Portuguese', 'Confirme seu e-mail', 'Seu código de acesso:\n\n    3 9 0 1 7 5\n\nVálido por 10 minutos.', '390175'],
  ['Italian', 'Codice di conferma', 'Il tuo codice è 271833 e scade tra 10 minuti.', '271833'],
  ['Dutch', 'Je verificatiecode', 'Gebruik de verificatiecode 914022 om in te loggen.', '914022'],
  ['Swedish', 'Din engångskod', 'Ange koden 550918 för att fortsätta.', '550918'],
  ['Polish', 'Kod weryfikacyjny', 'Twój kod weryfikacyjny to: 330761', '330761'],
  ['Czech', 'Ověření e-mailu', 'Váš ověřovací kód je 884120.', '884120'],
  ['Hungarian', 'Megerősítés', 'Az Ön kódja: 119284', '119284'],
  [
    'Turkish',
    'E-posta doğrulama kodu',
    'Doğrulama kodunuz: 604482\nBu kod 5 dakika geçerlidir. Sipariş no 99887766',
    '604482',
  ],
  ['Russian', 'Подтверждение адреса', 'Ваш код подтверждения: 773520. Никому его не сообщайте.', '773520'],
  ['Ukrainian', 'Код підтвердження', 'Код: 908 114', '908114'],
  ['Greek', 'Κωδικός επαλήθευσης', 'Ο κωδικός σας είναι 443016', '443016'],
  ['Arabic', 'رمز التحقق', 'رمز التحقق الخاص بك هو ٤٨٢٩١٣\nصالح لمدة ١٠ دقائق', '482913'],
  ['Persian', 'کد تایید', 'کد تایید شما: ۷۳۹۲۰۱', '739201'],
  ['Hebrew', 'קוד אימות', 'קוד האימות שלך הוא 550172', '550172'],
  ['Hindi', 'सत्यापन कोड', 'आपका सत्यापन कोड ४४२१९० है', '442190'],
  ['Thai', 'รหัสยืนยัน', 'รหัสยืนยันของคุณคือ 663201', '663201'],
  ['Vietnamese', 'Mã xác nhận', 'Mã xác nhận của bạn là 771203', '771203'],
  ['Indonesian', 'Kode verifikasi', 'Kode verifikasi Anda adalah 220917.', '220917'],
  [
    'Japanese',
    '認証コードのお知らせ',
    '認証コードは123456です。\n有効期限は10分です。\nお問い合わせ 注文番号 7654321',
    '123456',
  ],
  ['Japanese, wide', '確認番号', '確認番号：１２３４５６\nこの番号を入力してください', '123456'],
  ['Chinese', '您的验证码', '【商店】您的验证码是：904417，10分钟内有效，请勿泄露。客服电话 4008123123', '904417'],
  ['Chinese, traditional', '驗證碼通知', '您的驗證碼為 551209，請於5分鐘內輸入。', '551209'],
  ['Korean', '인증번호 안내', '인증번호는 [337120]입니다. 3분 이내에 입력해 주세요.', '337120'],
  ['letters and digits', 'Your access code', 'Access code: K7QX2M', 'K7QX2M'],
  ['two groups', 'Sign in', 'Your one-time code:\n\nWDJB-MJ42\n\n', 'WDJB-MJ42'],
  ['a prefix that belongs to it', 'Code', 'G-482913 is your verification code.', 'G-482913'],
  ['capitals alone', 'Your code', 'Enter this code:\n\nXKQZPW\n', 'XKQZPW'],
  ['four digits', 'PIN', 'Your PIN: 4821', '4821'],
  ['eight digits', 'Login code', 'Your login code is 48213377.', '48213377'],
  ['a year that is a code', 'Your code', 'Your code is:\n\n2024\n', '2024'],
];

const NONE: readonly (readonly [string, string, string])[] = [
  ['an invoice', 'Invoice 2026-1123', 'Invoice number: 20261123. Amount: 129.00 EUR. Customer 448812.'],
  ['a discount', 'Summer sale', 'Your discount code: SUMMER25\nPromo code SAVE10'],
  ['an address', 'Hello', 'Our office: 221 Baker Street, zip code 90210. Phone 555 123 4567'],
  ['a date', 'Your trip', 'See you on 2026-11-21 at 10:30, gate 4821.'],
  ['prose', 'About code review', 'I read your code and it looks good. Nothing to add, version 1.2.3.4 ships in 2027.'],
  ['an amount', 'Your code of conduct', 'The fee is $1234 and the code of conduct costs 5678 €'],
];

describe('the code', () => {
  test.each(MAILS)('of a mail in %s', (_language, subject, text, code) => {
    expect(findCode(subject, text)).toMatchObject({ code });
  });

  test.each(NONE)('is not read out of %s', (_what, subject, text) => {
    expect(findCode(subject, text)).toBeUndefined();
  });

  test('says how sure it is: one alone under its word, another beside it', () => {
    expect(findCode('Your code', 'Your code:\n\n482913\n')?.confidence).toBe('high');
    expect(findCode('Your codes', 'Your code:\n\n482913\n\nYour code:\n\n118822\n')?.confidence).not.toBe('high');
  });

  test('is not taken from a link', () => {
    expect(findCode('Verify', 'Your code is behind [link:1234 code-482913.example]')).toBeUndefined();
  });

  test.each(['1 ', 'code ', 'A1-', 'kodkod', '123 ', 'код', '1234567890123'])(
    'takes time that grows with the text and no faster: %j',
    async (piece) => {
      const read = (count: number): unknown => findCode(piece.repeat(count), piece.repeat(count));
      expect(await growth(read, 40_000)).toBeLessThan(PROPORTIONAL);
    },
  );
});

/** A text with its links as a reader of mail makes it. */
function read(text: string): { text: string; links: LinkRegistry } {
  const links = new LinkRegistry();
  return { text: replaceLinks(text, links).text, links };
}

describe('the link', () => {
  test.each([
    ['English', 'Confirm your email: https://accounts.shop.example/verify?token=abcdefabcdefabcdef'],
    ['German', 'Bitte bestätige deine Adresse: https://shop.example/k/abcdefabcdefabcdef12'],
    ['Turkish', 'Hesabınızı etkinleştirin: https://shop.example/a?x=abcdefabcdefabcdef12'],
    ['Japanese', '下のリンクから登録を完了してください\nhttps://shop.example/r/abcdefabcdefabcdef12'],
    ['Chinese', '请点击链接激活您的账号：https://shop.example/act/abcdefabcdefabcdef12'],
    ['Arabic', 'اضغط لتأكيد بريدك https://shop.example/c/abcdefabcdefabcdef12'],
  ])('to press, in %s', (_language, line) => {
    const { text, links } = read(
      `https://shop.example/\n${line}\nNot you? Tell us: https://shop.example/report?id=1\nhttps://shop.example/unsubscribe/abcdefabcdefabcdef12`,
    );
    const found = findConfirmationLink(text, links, 'shop.example');
    expect(urlOf(links, found?.link.handle ?? '')).toContain('abcdefabcdef');
    expect(urlOf(links, found?.link.handle ?? '')).not.toContain('unsubscribe');
  });

  test('leads to the domain, or to nobody', () => {
    const { text, links } = read('Confirm your email: https://shop.example.evil.test/verify?token=abcdefabcdefabcdef');
    expect(findConfirmationLink(text, links, 'shop.example')).toBeUndefined();
  });

  test('is none where a mail only shows pages', () => {
    const { text, links } = read('News: https://shop.example/news/today and https://shop.example/help');
    expect(findConfirmationLink(text, links, 'shop.example')).toBeUndefined();
  });
});
