import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about signing in, and pages behind links in emails. */
export const entrance = {
  'sign-in.title': 'Anmelden',
  'sign-in.done-password': 'Passwort geändert. Melden Sie sich damit an.',
  'sign-in.done-out': 'Sie sind abgemeldet.',
  'sign-in.done-step': 'Die Anmeldung ist abgelaufen, oder zu viele Codes waren falsch. Beginnen Sie von vorn.',
  'sign-in.forgot': 'Passwort vergessen?',
  'sign-in.no-account':
    'Kein Konto? Bitten Sie Ihren Administrator um eine Einladung, oder öffnen Sie einen Übernahmelink.',
  'sign-in.wrong': 'Adresse oder Passwort ist falsch.',
  'sign-in.link': 'Dieser Link meldet diesen Browser einmal an.',
  'sign-in.not': 'Nicht angemeldet',

  'step.title': 'Zweiter Schritt',
  'step.as': 'Anmeldung als {address}.',
  'step.code': 'Code',
  'step.code-hint': '6 Ziffern aus Ihrer Authenticator-App oder ein Wiederherstellungscode.',
  'step.fresh-hint':
    'Aus Ihrer Authenticator-App oder ein Wiederherstellungscode. Eine Anmeldung mit einem Passkey in den letzten 15 Minuten ersetzt ihn.',
  'step.wrong-code': 'Der Code ist falsch oder wurde schon verwendet. Warten Sie auf den nächsten.',
  'step.passkey': 'Passkey verwenden',
  'step.lost':
    'Gerät verloren? Verwenden Sie einen Wiederherstellungscode. Ohne einen bitten Sie den Betreiber von {host}, Ihren zweiten Faktor zurückzusetzen.',
  'step.other-account': 'Mit einem anderen Konto anmelden',

  'provider.sign-in': 'Mit {provider} anmelden',
  'provider.unreachable':
    '{provider} ist zurzeit nicht erreichbar. Versuchen Sie es erneut, oder verwenden Sie Ihr Passwort.',
  'provider.expired':
    'Die Anmeldung wurde nicht in diesem Browser begonnen, wurde schon verwendet oder hat länger als 10 Minuten gedauert. Beginnen Sie von vorn.',
  'provider.denied': '{provider} hat Sie nicht angemeldet ({why}).',
  'provider.bad-answer':
    'Die Antwort von {provider} wurde nicht angenommen; der Grund wurde protokolliert. Beginnen Sie von vorn, oder verwenden Sie Ihr Passwort.',
  'provider.unknown':
    'Niemand hier hat Ihre Adresse, oder der Anbieter hat sie nicht bestätigt. Bitten Sie Ihren Administrator um eine Einladung.',
  'provider.unverified':
    'Ihre Adresse ist hier nicht bestätigt. Melden Sie sich einmal mit Ihrem Passwort an, und senden Sie von „Ihr Konto“ einen Bestätigungslink.',
  'provider.other-subject':
    'Ihre Adresse ist mit einem anderen Konto des Anbieters verknüpft. Melden Sie sich mit Ihrem Passwort an, und lösen Sie die Verknüpfung unter „Anmeldesicherheit“.',

  'passkey.sign-in': 'Mit einem Passkey anmelden',
  'passkey.browser-asks': 'Ihr Browser fragt nach dem Passkey, den Sie auf dieser Website registriert haben.',
  'passkey.use': 'Passkey verwenden',
  'passkey.password-instead': 'Mit Ihrem Passwort anmelden',
  'passkey.browser-failed':
    'Der Browser hat keinen Passkey verwendet ({why}). Versuchen Sie es erneut, oder melden Sie sich anders an.',
  'passkey.needs-scripts': 'Passkeys benötigen JavaScript in diesem Browser.',
  'passkey.needs-name': 'Passkeys brauchen einen Hostnamen',
  'passkey.no-name':
    'Browser speichern Passkeys für Hostnamen, und diese Seite wurde über eine IP-Adresse geöffnet. Öffnen Sie sie über ihren Namen.',
  'passkey.refused':
    'Der Passkey ist hier nicht bekannt, wurde entfernt, oder die Seite war zu lange offen. Beginnen Sie von vorn.',

  'reset.title': 'Passwort zurücksetzen',
  'reset.about':
    'Geben Sie die Adresse ein, mit der Sie sich anmelden. Sie erhalten einen Link, um ein neues Passwort festzulegen.',
  'reset.send': 'Link senden',
  'reset.back': 'Zurück zur Anmeldung',
  'reset.sent': 'Sehen Sie in Ihre E-Mails',
  'reset.sent-text':
    'Wenn es ein Konto mit dieser bestätigten Adresse gibt, wurde ein Link gesendet. Er läuft in 1 Stunde ab.',
  'reset.signs-out': 'Sie werden dadurch überall sonst abgemeldet.',

  'invite.title': '{organization} beitreten',
  'invite.as-owner': 'Sie sind als Inhaber in die Organisation {organization} auf {host} eingeladen.',
  'invite.as-admin': 'Sie sind als Administrator in die Organisation {organization} auf {host} eingeladen.',
  'invite.as-member':
    'Sie sind als Mitglied mit eigenen Postfächern in die Organisation {organization} auf {host} eingeladen.',
  'invite.join': 'Organisation beitreten',
  'invite.name': 'Ihr Name',
  'invite.bad-name': {
    one: 'Verwenden Sie eine Zeile mit höchstens {count} Zeichen.',
    other: 'Verwenden Sie eine Zeile mit höchstens {count} Zeichen.',
  },

  'claim.title': '{organization} übernehmen',
  'claim.submit': 'Organisation übernehmen',
  'claim.verify-title': 'Adresse bestätigen',
  'claim.verify': 'Adresse bestätigen',
  'claim.afterwards':
    'Danach sehen Sie ihr Auditprotokoll und können den Zugriff ihres Erstellers widerrufen. Es entstehen keine Kosten.',
  'claim.already':
    'Die Organisation ist bereits übernommen. Dieser Link bestätigt, dass Sie E-Mails an {address} erhalten: Danach können Sie Ihr Passwort per E-Mail zurücksetzen.',
  'claim.operator': 'Diese Organisation betreibt den Mailserver {host}. Mit der Übernahme werden Sie der Betreiber.',
  'claim.created':
    'Diese Organisation wurde auf {host} angelegt, vielleicht von Ihrem Agenten, mit {address} als Inhaber.',
  'claim.signed-in-as': 'Sie sind als {address} angemeldet.',
  'claim.has-account': 'Es gibt ein Konto mit dieser Adresse. Melden Sie sich mit seinem Passwort an.',
  'claim.forgot': 'Passwort vergessen?',
  'claim.your-address': 'Ihre E-Mail-Adresse',
  'claim.address-hint': 'Mit dieser Adresse melden Sie sich an.',

  'proof.about': 'Damit bestätigen Sie, dass Sie E-Mails an {address} erhalten.',
  'proof.sign-in': 'Melden Sie sich zuerst an',
  'proof.sign-in-text':
    'Melden Sie sich in diesem Browser an, und öffnen Sie dann den Link in der E-Mail erneut. Er ist noch gültig.',
  'proof.wrong-account': 'Falsches Konto',
  'proof.wrong-account-text':
    'Der Link gehört zu einem anderen Konto. Melden Sie sich mit jenem Konto an. Der Link ist noch gültig.',

  'forward.confirm': 'Weiterleitung bestätigen',
  'forward.about': 'Die Organisation {organization} möchte alle E-Mails für {source} an {destination} weiterleiten.',
  'forward.decline': 'Um abzulehnen, schließen Sie diese Seite. Ohne Bestätigung wird nichts weitergeleitet.',
  'forward.done': 'Weiterleitung bestätigt',
  'forward.done-text': 'E-Mails für {source} werden jetzt an {destination} weitergeleitet.',
  'forward.missing':
    'Der Link ist unvollständig, wurde durch einen neueren ersetzt, oder die Weiterleitung wurde entfernt.',
  'forward.used':
    'Die Weiterleitung ist bereits bestätigt. Um sie zu beenden, wenden Sie sich an die Organisation, die sie eingerichtet hat.',
  'forward.expired': 'Der Link ist abgelaufen. Die Organisation kann einen neuen senden.',
  'forward.frozen': 'Der Betreiber dieses Mailservers hat die Organisation gesperrt. Es wird nichts weitergeleitet.',

  'unsubscribe.title': 'Abbestellen',
  'unsubscribe.button': 'Abbestellen',
  'unsubscribe.about': '{recipient} erhält dann keine E-Mails mehr von den Programmen von {organization}.',
  'unsubscribe.done': 'Abbestellt',
  'unsubscribe.done-text':
    'Die Programme von {organization} senden nicht mehr an {recipient}. E-Mails, die schon unterwegs sind, können noch ankommen.',
  'unsubscribe.undo': 'Wieder abonnieren',
  'unsubscribe.bad-link': 'Der Link ist unvollständig. Kopieren Sie die ganze Adresse aus der Nachricht.',
  'unsubscribe.bad-form': 'Ungültiges Formular. Laden Sie die Seite neu, und versuchen Sie es erneut.',
  'unsubscribe.flooded': 'Versuchen Sie es in {wait} erneut.',

  'device.set-up': '{name} einrichten',
  'device.title': 'Gerät einrichten',
  'device.about':
    'Fügt diesem Gerät das Postfach {address} mit einem eigenen Passwort hinzu. Der Link funktioniert einmal.',
  'device.profile': 'iPhone, iPad oder Mac: Profil herunterladen',
  'device.settings': 'Anderes Gerät: Einstellungen anzeigen',
  'device.after': 'Nach dem Herunterladen: Einstellungen, Profil geladen, Installieren.',
  'device.settings-for': 'Einstellungen für {name}',
  'device.settings-title': 'Einstellungen',
  'device.once': 'Wird nur einmal angezeigt und gilt nur für dieses Gerät: Geben Sie es jetzt ein.',
  'device.user-name': 'Benutzername',
  'device.receiving': 'Empfang (IMAP)',
  'device.sending': 'Versand (SMTP)',
  'device.server': '{host}, Port {port}, {tls}',
  'device.bad-link':
    'Der Link wurde verwendet, ist abgelaufen oder unvollständig. Erstellen Sie auf der Seite des Postfachs einen neuen.',
  'device.too-many': 'Zu viele Passwörter',
  'device.too-many-text':
    'Das Postfach hat 50 Passwörter, mehr sind nicht möglich. Widerrufen Sie eines auf seiner Seite, und öffnen Sie den Link dann erneut.',

  'front.title': 'Mailserver',
  'front.local': 'Ein Mailserver auf diesem Rechner',
  'front.about':
    'Mailstead empfängt, speichert, liefert und sendet E-Mails für seine Domains: IMAP und SMTP für Mailprogramme, HTTP für Programme, MCP für Agenten.',
  'front.mail': 'Postfach öffnen',
  'front.portal': 'Beim Portal anmelden',
  'front.endpoint': 'Der Endpunkt ist {url}. Ein Aufruf legt eine Organisation und ein Token an:',
  'front.claim': 'Ihr Inhaber erhält einen Übernahmelink per E-Mail.',
  'front.operators': 'Für Betreiber',
  'front.monitoring': '{help} auf dem Server. Überwachung: {health}, {readiness}, {metrics}.',
  'front.health': 'Zustand',
  'front.readiness': 'Bereitschaft',
  'front.metrics': 'Metriken',

  'billing.title': 'Keine Zahlung erforderlich',
  'billing.text': 'Dieser Mailserver verlangt keine Zahlung, und es kann keine Zahlungsart hinzugefügt werden.',
} satisfies Partial<PortalCatalog>;
