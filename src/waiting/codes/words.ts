/** Words next to a code, in lower case; words of scripts without spaces match inside longer words too. */
const CODE_WORDS: readonly string[] = [
  // Latin: whole words, and the ends of compounds.
  '\\p{L}{0,24}(?:codes?|kode[nt]?|koden|kod[aeiuyąę]?|kodu\\p{L}{0,4}|kodas|koodi\\p{L}{0,4}|kood|kód\\p{L}{0,4}|codul?|codice|c[oó]digo|otp|totp|pin|tan)',
  'passcode|one[- ]time password|mot de passe|contraseña|senha|clave|parola|[sş]ifre(?:niz|si)?|heslo|hasło|jelszó|lösenord|wachtwoord|mã(?: xác (?:nhận|minh|thực))?',
];
const CODE_SCRIPTS =
  'код\\p{L}{0,3}|пароль|κωδικ\\p{L}{0,3}|רמז|קוד|סיסמה|رمز|كود|الرمز|کد|پین|कोड|ओटीपी|পাসকোড|কোড|รหัส|コード|認証番号|確認番号|暗証番号|パスワード|验证码|驗證碼|校验码|校驗碼|动态码|動態碼|动态密码|激活码|确认码|確認碼|口令|인증번호|인증 ?코드|확인 ?코드|보안 ?코드|코드';

/** Matches code words. */
export const CODE_WORD = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${CODE_WORDS.join('|')})(?![\\p{Script=Latin}\\p{N}])|${CODE_SCRIPTS}`,
  'giu',
);

/** Words before other codes and numbers, such as a postal code or an order number. */
export const OTHER_NUMBER =
  /promo|discount|coupon|voucher|gutschein|rabatt|zip|postal|postcode|postleitzahl|\bplz\b|area code|country code|qr|source code|order|bestell|auftrag|invoice|rechnung|facture|factura|fattura|fatura|pedido|commande|ordine|sipariş|заказ|ticket|case (?:no|number|id)|tracking|sendung|kunden|customer|account (?:no|number)|konto|hesap|phone|telefon|téléphone|teléfono|telefono|\btel\b|fax|\bref\b|reference|注文|订单|訂單|電話|电话|주문|전화|طلب|هاتف/iu;

/** Words before a confirmation link. */
export const LINK_WORD =
  /confirm|verif|activat|validat|sign[- ]?in|log[- ]?in|magic link|reset|accept|complete|get started|bestätig|aktivier|anmeld|verifizier|einloggen|vérifi|activ|connexion|valider|verifica|ativar|iniciar sesi[oó]n|entrar|conferma|attiva|accedi|bevestig|inloggen|bekräfta|aktivera|logga in|bekreft|bekræft|aktiver|potwierd|zweryfik|aktywuj|zaloguj|potvrd|potvrď|ověř|overit|aktivova|megerősít|aktivál|bejelentkez|doğrula|onayla|etkinleştir|giriş|vahvista|aktivoi|kirjaudu|xác nhận|xác minh|kích hoạt|konfirmasi|aktifkan|подтверд|активир|войти|підтверд|активув|потвърд|επιβεβαί|επαλήθευ|ενεργοπο|σύνδεση|تأكيد|تفعيل|تحقق|تسجيل الدخول|تایید|אישור|אמת|הפעל|התחבר|पुष्टि|सत्यापित|सक्रिय|ยืนยัน|確認|認証|有効|ログイン|登録|确认|验证|驗證|激活|登录|啟用|확인|인증|활성화|로그인/iu;

/** Paths of confirmation links. */
export const LINK_PATH =
  /verif|confirm|activ|valid|magic|log-?in|sign-?in|sign-?up|token|auth|otp|regist|invite|reset/i;

/** Words of other links in such mail. */
export const OTHER_LINK =
  /unsubscrib|abmelden|abbestell|désabonn|desinscri|cancelar suscri|disiscri|afmeld|avregistrer|wypisz|odhlás|leiratkoz|abonelikten|отписа|配信停止|退订|수신거부|privacy|datenschutz|confidentialité|terms|impressum|help|support|preferences|settings|report|not you|wasn'?t (?:you|me)/i;
