/**
 * Sentences of people and programs, by language. `{n}` is a number, `{m}` an amount, `{d}` a day, `{w}` a noun that
 * all kinds of mail share, `{p}` a name, `{c}` who sends, `{k}` a code, `{u}` a link.
 */
export interface Language {
  hello: readonly string[];
  bye: readonly string[];
  nouns: readonly string[];
  days: readonly string[];
  /** People to people. */
  talk: readonly string[];
  /** Those who sell something that was asked for. */
  trade: readonly string[];
  /** Programs about an account, and those who pretend to be such a program. */
  notice: readonly string[];
  /** Spam sentences, by purpose. */
  lures: Readonly<Record<Lure, readonly string[]>>;
}

export const LURES = ['pills', 'loan', 'advance', 'phishing', 'seo', 'crypto', 'dating', 'invoice'] as const;
export type Lure = (typeof LURES)[number];

const list = (text: string): readonly string[] => text.split('|').map((one) => one.trim());

export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: {
    hello: list('Hi {p},|Hello {p},|Dear {p},|Good morning,|Hey,'),
    bye: list('Best, {p}|Kind regards, {p}|Thanks, {p}|See you, {p}|Cheers'),
    nouns: list(
      'meeting|report|kitchen|garden|car|school|train|photo|contract|offer|account|list|team|project|ticket|invoice|bank|doctor|price|package',
    ),
    days: list('Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday'),
    talk: list(
      'Could you send me the {w} before {d}?|I looked at the {w} and have {n} small questions.|The children liked the {w} a lot, thank you again.|We are free on {d} if that still suits you.|My sister said the {w} would cost about {m}.|Can we move the {w} to {d}, around {n}?|I attach the {w} as we discussed on the phone.|The doctor wants to see me again on {d}.|Please call me when you have read the {w}.|I paid {m} for the {w}, you can give it back later.|Sorry for the late answer, the week was full.|Do you know a good place for {n} people?|The {w} is nearly done, only the {w} is missing.|Congratulations on the new {w}!|We won the game and everybody was happy.|I will be late on {d}, start without me.',
    ),
    trade: list(
      'Thank you for your order {k} of {m}.|Your {w} has been shipped and arrives on {d}.|Here is your invoice for {m}, due in {n} days.|This week: {n} new ideas for your {w}.|Save {n}% on every {w} until {d}.|Your subscription renews on {d} for {m}.|Rate your {w} and help others choose.|You receive this because you subscribed at {c}.|Free delivery for members from {m}.|Your booking {k} is confirmed for {d}.|The winter sale begins on {d}, with prices from {m}.|View the details in your account: {u}',
    ),
    notice: list(
      'Your verification code is {k}. It expires in {n} minutes.|There was a new sign-in to your account on {d}.|Confirm your email address to activate your account: {u}|You asked to reset your password: {u}|If this was not you, secure your account here: {u}|Your {w} was shared with you by {p}.|Your storage is {n}% full.|Please update your payment details before {d}.',
    ),
    lures: {
      pills: list(
        'Order the blue tablets without prescription, {n}% cheaper than your pharmacy.|Last longer tonight: our doctors ship discreetly.|Lose {n} pounds in {n} days with this one natural secret.|Men over 40 are amazed by this simple trick.',
      ),
      loan: list(
        'You are approved for a loan of {m}, no credit check.|Consolidate your debts today, rates from {n}% a year.|Get cash in your account within {n} hours, bad credit welcome.|Our lenders compete for you: reply with your phone number.',
      ),
      advance: list(
        'I am the lawyer of a late client who left {m} without heirs.|Your fund of {m} is waiting for release at our bank.|I need a trusted partner to move {m}, you will keep {n}%.|Contact the barrister with your full name and address to claim.',
      ),
      phishing: list(
        'Your account has been limited, confirm your identity within {n} hours: {u}|Unusual activity was found, verify your card now: {u}|Your mailbox is almost full, click to keep receiving mail: {u}|A package is held because of unpaid fees of {m}: {u}',
      ),
      seo: list(
        'I visited your website and found {n} errors that hurt your ranking.|We can bring you to the first page of search within {n} days.|Our team of experts offers backlinks and web design from {m}.|Would you like a free quote for app development?',
      ),
      crypto: list(
        'He turned {m} into a fortune with this trading robot.|Double your bitcoin in {n} days, payouts guaranteed.|Your wallet holds {m} that was not withdrawn: {u}|The broker who beats the market opens {n} places for beginners.',
      ),
      dating: list(
        'Hi dear, I saw your profile and cannot stop thinking of you.|{n} lonely women near you wait for a message tonight.|I am a nice girl looking for a serious man, write me: {u}|She sent you a private photo, see it here: {u}',
      ),
      invoice: list(
        'Attached is the overdue invoice of {m}, pay today to avoid legal action.|Your antivirus renewal of {m} was charged, call us to cancel.|Find enclosed the purchase order and confirm the bank details.|Payment failed, open the document for the remittance advice.',
      ),
    },
  },
  de: {
    hello: list('Hallo {p},|Liebe {p},|Sehr geehrte Damen und Herren,|Guten Morgen,|Moin {p},'),
    bye: list('Viele Grüße, {p}|Mit freundlichen Grüßen|Bis bald, {p}|Danke und Gruß, {p}'),
    nouns: list(
      'Besprechung|Bericht|Küche|Garten|Auto|Schule|Zug|Foto|Vertrag|Angebot|Konto|Liste|Team|Projekt|Fahrkarte|Rechnung|Bank|Arzt|Preis|Paket',
    ),
    days: list('Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag'),
    talk: list(
      'Kannst du mir bis {d} die Unterlagen zu {w} schicken?|Ich habe noch {n} Fragen zum Thema {w}.|Die Kinder haben sich sehr gefreut, nochmals danke.|Am {d} hätten wir Zeit, passt das noch?|Das hat ungefähr {m} gekostet, du kannst es mir später geben.|Können wir den Termin auf {d} um {n} verschieben?|Anbei wie am Telefon besprochen: {w}.|Ruf mich bitte an, wenn du es gelesen hast.|Entschuldige die späte Antwort, die Woche war voll.|Kennst du ein gutes Lokal für {n} Leute?|Wir sind fast fertig, es fehlt nur noch {w}.|Herzlichen Glückwunsch zum Geburtstag!',
    ),
    trade: list(
      'Vielen Dank für Ihre Bestellung {k} über {m}.|Ihre Sendung ist unterwegs und kommt am {d} an.|Ihre Rechnung über {m} ist in {n} Tagen fällig.|Sparen Sie bis {d} {n}% auf alles rund um {w}.|Ihr Abonnement verlängert sich am {d} für {m}.|Sie erhalten diesen Newsletter, weil Sie sich bei {c} angemeldet haben.|Kostenloser Versand ab {m}.|Ihre Buchung {k} ist für {d} bestätigt.',
    ),
    notice: list(
      'Ihr Bestätigungscode lautet {k}. Er gilt {n} Minuten.|Neue Anmeldung in Ihrem Konto am {d}.|Bitte bestätigen Sie Ihre E-Mail-Adresse: {u}|Sie möchten Ihr Passwort zurücksetzen: {u}|Ihr Speicher ist zu {n}% belegt.|Bitte aktualisieren Sie Ihre Zahlungsdaten bis {d}.',
    ),
    lures: {
      pills: list(
        'Potenzmittel ohne Rezept, diskret und {n}% günstiger.|Nehmen Sie {n} Kilo in {n} Tagen ab, ganz ohne Sport.|Ärzte staunen über dieses natürliche Mittel.',
      ),
      loan: list(
        'Sofortkredit über {m} ohne Schufa bewilligt.|Schulden zusammenfassen ab {n}% im Jahr.|Geld in {n} Stunden auf Ihrem Konto.',
      ),
      advance: list(
        'Ein verstorbener Kunde hinterließ {m} ohne Erben.|Ich suche einen ehrlichen Partner für {m}, Sie behalten {n}%.|Nennen Sie Name und Anschrift, um die Summe zu erhalten.',
      ),
      phishing: list(
        'Ihr Konto wurde eingeschränkt, bestätigen Sie Ihre Daten binnen {n} Stunden: {u}|Ihre TAN-Freigabe läuft am {d} ab: {u}|Ihr Paket wird wegen {m} Zollgebühr zurückgehalten: {u}',
      ),
      seo: list(
        'Ihre Webseite hat {n} Fehler, die das Ranking verschlechtern.|Wir bringen Sie in {n} Tagen auf Seite eins.|Gerne erstellen wir ein Angebot für Backlinks ab {m}.',
      ),
      crypto: list(
        'Mit diesem Roboter wurden aus {m} ein Vermögen.|Verdoppeln Sie Ihre Bitcoin in {n} Tagen, garantiert.|Auf Ihrer Wallet warten {m}: {u}',
      ),
      dating: list(
        '{n} einsame Frauen in Ihrer Nähe warten auf Nachricht.|Ich habe dein Profil gesehen und denke nur an dich.|Sie hat dir ein privates Foto geschickt: {u}',
      ),
      invoice: list(
        'Anbei die überfällige Rechnung über {m}, sonst Inkasso.|Ihre Zahlung ist fehlgeschlagen, öffnen Sie das Dokument.|Bitte prüfen Sie die geänderte Bankverbindung.',
      ),
    },
  },
  fr: {
    hello: list('Bonjour {p},|Salut {p},|Cher client,|Coucou,'),
    bye: list('Cordialement, {p}|À bientôt, {p}|Bises, {p}|Merci beaucoup'),
    nouns: list(
      'réunion|rapport|cuisine|jardin|voiture|école|train|photo|contrat|offre|compte|liste|équipe|projet|billet|facture|banque|médecin|prix|colis',
    ),
    days: list('lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche'),
    talk: list(
      'Peux-tu m’envoyer le dossier {w} avant {d} ?|J’ai encore {n} questions sur {w}.|Les enfants ont adoré, merci encore.|Nous sommes libres {d} si cela te va.|Ça coûte environ {m}, tu me rendras plus tard.|On peut déplacer à {d} vers {n} heures ?|Je joins le document comme convenu.|Appelle-moi quand tu auras lu.|Désolé pour la réponse tardive.|Tu connais un bon restaurant pour {n} personnes ?|C’est presque fini, il manque juste {w}.',
    ),
    trade: list(
      'Merci pour votre commande {k} de {m}.|Votre colis est expédié et arrive {d}.|Votre facture de {m} est à payer sous {n} jours.|Économisez {n}% jusqu’à {d}.|Votre abonnement se renouvelle {d} pour {m}.|Vous recevez cette lettre car vous êtes inscrit chez {c}.|Livraison gratuite dès {m}.',
    ),
    notice: list(
      'Votre code de vérification est {k}, valable {n} minutes.|Nouvelle connexion à votre compte {d}.|Confirmez votre adresse pour activer votre compte : {u}|Réinitialisez votre mot de passe : {u}|Mettez à jour votre moyen de paiement avant {d}.',
    ),
    lures: {
      pills: list(
        'Commandez sans ordonnance, {n}% moins cher, livraison discrète.|Perdez {n} kilos en {n} jours sans effort.',
      ),
      loan: list(
        'Votre prêt de {m} est accordé sans justificatif.|Rachat de crédits à partir de {n}%, réponse immédiate.',
      ),
      advance: list(
        'Un client décédé a laissé {m} sans héritier.|Je cherche une personne de confiance pour {m}, vous gardez {n}%.',
      ),
      phishing: list(
        'Votre compte est suspendu, confirmez votre identité sous {n} heures : {u}|Votre carte vitale expire {d}, renouvelez-la : {u}|Remboursement d’impôt de {m} en attente : {u}',
      ),
      seo: list(
        'Votre site contient {n} erreurs qui nuisent au référencement.|Première page de recherche en {n} jours, devis gratuit.',
      ),
      crypto: list('Ce robot a transformé {m} en fortune.|Doublez vos bitcoins en {n} jours, gains garantis.'),
      dating: list(
        '{n} femmes seules près de chez vous attendent un message.|J’ai vu ton profil et je pense à toi sans cesse : {u}',
      ),
      invoice: list('Facture impayée de {m} en pièce jointe, dernier avis.|Merci de confirmer le changement de RIB.'),
    },
  },
  es: {
    hello: list('Hola {p},|Buenos días,|Estimado cliente,|Querida {p},'),
    bye: list('Un saludo, {p}|Saludos cordiales|Besos, {p}|Gracias, {p}'),
    nouns: list(
      'reunión|informe|cocina|jardín|coche|escuela|tren|foto|contrato|oferta|cuenta|lista|equipo|proyecto|billete|factura|banco|médico|precio|paquete',
    ),
    days: list('lunes|martes|miércoles|jueves|viernes|sábado|domingo'),
    talk: list(
      '¿Me puedes mandar lo de {w} antes del {d}?|Tengo {n} preguntas sobre {w}.|A los niños les encantó, gracias otra vez.|El {d} estamos libres si te viene bien.|Costó unos {m}, ya me lo darás.|¿Podemos pasarlo al {d} a las {n}?|Te adjunto lo que hablamos por teléfono.|Llámame cuando lo hayas leído.|Perdona que conteste tan tarde.|¿Conoces un buen sitio para {n} personas?|Casi está listo, solo falta {w}.',
    ),
    trade: list(
      'Gracias por su pedido {k} de {m}.|Su envío llega el {d}.|Su factura de {m} vence en {n} días.|Ahorre un {n}% hasta el {d}.|Su suscripción se renueva el {d} por {m}.|Recibe este boletín porque se registró en {c}.|Envío gratis desde {m}.',
    ),
    notice: list(
      'Su código de verificación es {k}, válido {n} minutos.|Nuevo acceso a su cuenta el {d}.|Confirme su correo para activar la cuenta: {u}|Restablezca su contraseña: {u}|Actualice su forma de pago antes del {d}.',
    ),
    lures: {
      pills: list(
        'Pastillas sin receta, {n}% más baratas y envío discreto.|Pierda {n} kilos en {n} días con este truco natural.',
      ),
      loan: list('Préstamo de {m} aprobado sin aval.|Reunifique sus deudas desde el {n}%.'),
      advance: list(
        'Un cliente fallecido dejó {m} sin herederos.|Busco un socio de confianza para mover {m}, usted se queda el {n}%.',
      ),
      phishing: list(
        'Su cuenta ha sido limitada, confirme sus datos en {n} horas: {u}|Su paquete está retenido por {m}: {u}|Detectamos actividad inusual en su tarjeta: {u}',
      ),
      seo: list('Su web tiene {n} errores que dañan el posicionamiento.|Le llevamos a la primera página en {n} días.'),
      crypto: list(
        'Este robot convirtió {m} en una fortuna.|Duplique sus bitcoins en {n} días, ganancias garantizadas.',
      ),
      dating: list('{n} mujeres solas cerca de ti esperan un mensaje.|Vi tu perfil y no dejo de pensar en ti: {u}'),
      invoice: list('Adjuntamos la factura vencida de {m}, último aviso.|Confirme el cambio de cuenta bancaria.'),
    },
  },
  it: {
    hello: list('Ciao {p},|Buongiorno,|Gentile cliente,'),
    bye: list('Un saluto, {p}|Cordiali saluti|A presto, {p}'),
    nouns: list(
      'riunione|relazione|cucina|giardino|macchina|scuola|treno|foto|contratto|offerta|conto|lista|squadra|progetto|biglietto|fattura|banca|medico|prezzo|pacco',
    ),
    days: list('lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica'),
    talk: list(
      'Mi mandi i documenti su {w} entro {d}?|Ho ancora {n} domande su {w}.|Ai bambini è piaciuto molto, grazie ancora.|{d} siamo liberi se ti va bene.|È costato circa {m}, me li ridai poi.|Possiamo spostare a {d} verso le {n}?|Ti allego quanto detto al telefono.|Chiamami quando hai letto.|Scusa il ritardo nella risposta.|Manca solo {w} e abbiamo finito.',
    ),
    trade: list(
      'Grazie per il tuo ordine {k} di {m}.|La spedizione arriva {d}.|La fattura di {m} scade tra {n} giorni.|Risparmia il {n}% fino a {d}.|Ricevi questa newsletter perché sei iscritto a {c}.|Il tuo abbonamento si rinnova {d} per {m}.',
    ),
    notice: list(
      'Il tuo codice di verifica è {k}, valido {n} minuti.|Nuovo accesso al tuo account {d}.|Conferma il tuo indirizzo: {u}|Reimposta la password: {u}',
    ),
    lures: {
      pills: list('Pillole senza ricetta, {n}% in meno, spedizione discreta.|Perdi {n} chili in {n} giorni.'),
      loan: list('Prestito di {m} approvato senza garanzie.|Consolida i debiti dal {n}%.'),
      advance: list('Un cliente defunto ha lasciato {m} senza eredi.|Cerco un partner fidato per {m}, a te il {n}%.'),
      phishing: list(
        'Il tuo conto è stato limitato, conferma i dati entro {n} ore: {u}|Il pacco è fermo per {m} di dogana: {u}',
      ),
      seo: list(
        'Il tuo sito ha {n} errori che danneggiano il posizionamento.|Ti portiamo in prima pagina in {n} giorni.',
      ),
      crypto: list('Questo robot ha trasformato {m} in una fortuna.|Raddoppia i bitcoin in {n} giorni.'),
      dating: list('{n} donne sole vicino a te aspettano un messaggio.|Ho visto il tuo profilo e penso solo a te: {u}'),
      invoice: list('In allegato la fattura scaduta di {m}, ultimo avviso.|Conferma il nuovo IBAN.'),
    },
  },
  pt: {
    hello: list('Olá {p},|Bom dia,|Prezado cliente,'),
    bye: list('Abraço, {p}|Atenciosamente|Até logo, {p}'),
    nouns: list(
      'reunião|relatório|cozinha|jardim|carro|escola|trem|foto|contrato|oferta|conta|lista|equipe|projeto|bilhete|fatura|banco|médico|preço|pacote',
    ),
    days: list('segunda|terça|quarta|quinta|sexta|sábado|domingo'),
    talk: list(
      'Podes enviar-me o documento sobre {w} até {d}?|Tenho {n} perguntas sobre {w}.|As crianças adoraram, obrigado outra vez.|Estamos livres {d} se te der jeito.|Custou uns {m}, depois acertamos.|Podemos mudar para {d} às {n}?|Segue em anexo o que falámos.|Liga-me quando tiveres lido.|Desculpa a demora na resposta.|Só falta {w} e está pronto.',
    ),
    trade: list(
      'Obrigado pela sua encomenda {k} de {m}.|A sua entrega chega {d}.|A sua fatura de {m} vence em {n} dias.|Poupe {n}% até {d}.|Recebe este boletim porque se inscreveu em {c}.|A sua assinatura renova-se {d} por {m}.',
    ),
    notice: list(
      'O seu código de verificação é {k}, válido por {n} minutos.|Novo acesso à sua conta {d}.|Confirme o seu endereço: {u}|Reponha a sua senha: {u}',
    ),
    lures: {
      pills: list('Comprimidos sem receita, {n}% mais baratos, envio discreto.|Perca {n} quilos em {n} dias.'),
      loan: list('Empréstimo de {m} aprovado sem consulta.|Junte as suas dívidas a partir de {n}%.'),
      advance: list(
        'Um cliente falecido deixou {m} sem herdeiros.|Procuro um parceiro de confiança para {m}, fica com {n}%.',
      ),
      phishing: list(
        'A sua conta foi bloqueada, confirme os dados em {n} horas: {u}|A encomenda está retida por {m}: {u}',
      ),
      seo: list('O seu site tem {n} erros que prejudicam o ranking.|Primeira página em {n} dias, orçamento grátis.'),
      crypto: list('Este robô transformou {m} numa fortuna.|Duplique os seus bitcoins em {n} dias.'),
      dating: list(
        '{n} mulheres sozinhas perto de si esperam mensagem.|Vi o teu perfil e não paro de pensar em ti: {u}',
      ),
      invoice: list('Em anexo a fatura em atraso de {m}, último aviso.|Confirme o novo NIB.'),
    },
  },
  nl: {
    hello: list('Hoi {p},|Beste {p},|Geachte klant,'),
    bye: list('Groeten, {p}|Met vriendelijke groet|Tot snel, {p}'),
    nouns: list(
      'vergadering|verslag|keuken|tuin|auto|school|trein|foto|contract|aanbod|rekening|lijst|team|project|kaartje|factuur|bank|dokter|prijs|pakket',
    ),
    days: list('maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag'),
    talk: list(
      'Kun je me de stukken over {w} voor {d} sturen?|Ik heb nog {n} vragen over {w}.|De kinderen vonden het geweldig, nogmaals dank.|Op {d} kunnen wij, als dat nog past.|Het kostte ongeveer {m}, komt later wel.|Kan het naar {d} om {n} uur?|In de bijlage wat we bespraken.|Bel me als je het gelezen hebt.|Sorry voor het late antwoord.|Alleen {w} ontbreekt nog.',
    ),
    trade: list(
      'Bedankt voor je bestelling {k} van {m}.|Je pakket komt {d} aan.|Je factuur van {m} vervalt over {n} dagen.|Bespaar {n}% tot {d}.|Je krijgt deze nieuwsbrief omdat je bij {c} bent ingeschreven.|Je abonnement wordt {d} verlengd voor {m}.',
    ),
    notice: list(
      'Je verificatiecode is {k}, geldig voor {n} minuten.|Nieuwe aanmelding op {d}.|Bevestig je adres: {u}|Stel je wachtwoord opnieuw in: {u}',
    ),
    lures: {
      pills: list('Pillen zonder recept, {n}% goedkoper, discreet bezorgd.|Val {n} kilo af in {n} dagen.'),
      loan: list('Lening van {m} goedgekeurd zonder toetsing.|Schulden samenvoegen vanaf {n}%.'),
      advance: list(
        'Een overleden klant liet {m} na zonder erfgenamen.|Ik zoek een eerlijke partner voor {m}, u houdt {n}%.',
      ),
      phishing: list('Uw rekening is beperkt, bevestig binnen {n} uur: {u}|Uw pakket wacht op {m} invoerkosten: {u}'),
      seo: list('Uw website heeft {n} fouten die de ranking schaden.|In {n} dagen op pagina een.'),
      crypto: list('Deze robot maakte van {m} een fortuin.|Verdubbel uw bitcoin in {n} dagen.'),
      dating: list('{n} eenzame vrouwen in de buurt wachten op bericht.|Ik zag je profiel en denk steeds aan je: {u}'),
      invoice: list(
        'Bijgaand de achterstallige factuur van {m}, laatste aanmaning.|Bevestig het nieuwe rekeningnummer.',
      ),
    },
  },
  pl: {
    hello: list('Cześć {p},|Dzień dobry,|Szanowny kliencie,'),
    bye: list('Pozdrawiam, {p}|Z poważaniem|Do zobaczenia, {p}'),
    nouns: list(
      'spotkanie|raport|kuchnia|ogród|samochód|szkoła|pociąg|zdjęcie|umowa|oferta|konto|lista|zespół|projekt|bilet|faktura|bank|lekarz|cena|paczka',
    ),
    days: list('poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela'),
    talk: list(
      'Czy możesz przesłać mi dokument o temacie {w} przed {d}?|Mam jeszcze {n} pytania, chodzi o {w}.|Dzieciom bardzo się podobało, jeszcze raz dziękuję.|W {d} jesteśmy wolni, jeśli to pasuje.|Kosztowało około {m}, oddasz później.|Czy możemy przenieść na {d} o {n}?|W załączniku to, o czym rozmawialiśmy.|Zadzwoń, kiedy przeczytasz.|Przepraszam za późną odpowiedź.|Brakuje tylko {w}.',
    ),
    trade: list(
      'Dziękujemy za zamówienie {k} na kwotę {m}.|Przesyłka dotrze w {d}.|Faktura na {m} jest płatna w ciągu {n} dni.|Oszczędź {n}% do {d}.|Otrzymujesz ten biuletyn, bo zapisałeś się w {c}.|Subskrypcja odnowi się w {d} za {m}.',
    ),
    notice: list(
      'Twój kod weryfikacyjny to {k}, ważny {n} minut.|Nowe logowanie na Twoje konto.|Potwierdź swój adres: {u}|Zresetuj hasło: {u}',
    ),
    lures: {
      pills: list('Tabletki bez recepty, {n}% taniej, dyskretna wysyłka.|Schudnij {n} kilo w {n} dni.'),
      loan: list('Pożyczka {m} przyznana bez BIK.|Połącz długi od {n}% rocznie.'),
      advance: list(
        'Zmarły klient zostawił {m} bez spadkobierców.|Szukam uczciwego partnera, chodzi o {m}, zatrzymasz {n}%.',
      ),
      phishing: list(
        'Twoje konto zostało ograniczone, potwierdź dane w {n} godzin: {u}|Paczka czeka na dopłatę {m}: {u}',
      ),
      seo: list('Twoja strona ma {n} błędów, które szkodzą pozycji.|Pierwsza strona wyników w {n} dni.'),
      crypto: list('Ten robot zamienił {m} w fortunę.|Podwój bitcoiny w {n} dni.'),
      dating: list(
        '{n} samotnych kobiet w pobliżu czeka na wiadomość.|Widziałam twój profil i ciągle o tobie myślę: {u}',
      ),
      invoice: list('W załączniku zaległa faktura na {m}, ostatnie wezwanie.|Prosimy potwierdzić zmianę numeru konta.'),
    },
  },
  ru: {
    hello: list('Привет, {p}!|Добрый день!|Уважаемый клиент!|Здравствуйте, {p},'),
    bye: list('С уважением, {p}|Пока, {p}|До встречи, {p}'),
    nouns: list(
      'встреча|отчёт|кухня|сад|машина|школа|поезд|фото|договор|предложение|счёт|список|команда|проект|билет|банк|врач|цена|посылка',
    ),
    days: list('понедельник|вторник|среда|четверг|пятница|суббота|воскресенье'),
    talk: list(
      'Пришли мне, пожалуйста, документы, тема: {w}, до {d}.|У меня ещё {n} вопроса, тема: {w}.|Детям очень понравилось, ещё раз спасибо.|Мы свободны, {d}, если тебе удобно.|Это стоило около {m}, отдашь потом.|Можно перенести на {d}, в {n}?|Прикладываю то, о чём говорили по телефону.|Позвони, когда прочитаешь.|Извини за поздний ответ.|Осталось только {w}.',
    ),
    trade: list(
      'Спасибо за заказ {k} на сумму {m}.|Доставка ожидается: {d}.|Счёт на {m} нужно оплатить за {n} дней.|Скидка {n}% до {d}.|Вы получили это письмо, потому что подписаны на {c}.|Подписка продлится: {d}, {m}.',
    ),
    notice: list(
      'Ваш код подтверждения: {k}, действует {n} минут.|Новый вход в аккаунт.|Подтвердите адрес: {u}|Сброс пароля: {u}',
    ),
    lures: {
      pills: list('Таблетки без рецепта, на {n}% дешевле, доставка анонимно.|Похудеть на {n} кг за {n} дней.'),
      loan: list('Кредит {m} одобрен без проверки.|Объедините долги от {n}% годовых.'),
      advance: list('Покойный клиент оставил {m} без наследников.|Ищу честного партнёра, {m}, ваша доля {n}%.'),
      phishing: list('Ваш счёт ограничен, подтвердите данные за {n} часов: {u}|Посылка задержана, доплата {m}: {u}'),
      seo: list('На вашем сайте {n} ошибок, которые вредят позициям.|Первая страница поиска за {n} дней.'),
      crypto: list('Этот робот превратил {m} в состояние.|Удвойте биткоины за {n} дней.'),
      dating: list('{n} одиноких женщин рядом ждут сообщения.|Увидела твой профиль и думаю о тебе: {u}'),
      invoice: list('Во вложении просроченный счёт на {m}, последнее уведомление.|Подтвердите новые реквизиты.'),
    },
  },
  zh: {
    hello: list('{p}你好，|您好，|尊敬的客户：'),
    bye: list('祝好，{p}|谢谢|此致敬礼'),
    nouns: list('会议|报告|厨房|花园|汽车|学校|火车|照片|合同|优惠|账户|名单|团队|项目|车票|发票|银行|医生|价格|包裹'),
    days: list('星期一|星期二|星期三|星期四|星期五|星期六|星期日'),
    talk: list(
      '请在{d}之前把{w}的资料发给我。|关于{w}我还有{n}个问题。|孩子们非常喜欢，再次感谢。|{d}我们有空，你方便吗？|大概花了{m}，以后再给我吧。|能不能改到{d}{n}点？|附件是电话里说的{w}。|看完以后给我打电话。|抱歉这么晚才回复。|只差{w}就完成了。',
    ),
    trade: list(
      '感谢您的订单{k}，金额{m}。|您的包裹将于{d}送达。|您的账单{m}将在{n}天后到期。|{d}之前节省{n}%。|您订阅了{c}的通讯，所以收到此邮件。|您的会员将于{d}续费{m}。',
    ),
    notice: list('您的验证码是{k}，{n}分钟内有效。|您的账户有新的登录。|请确认您的邮箱：{u}|重置密码：{u}'),
    lures: {
      pills: list('无需处方的药片，便宜{n}%，保密发货。|{n}天瘦{n}公斤。'),
      loan: list('您的贷款{m}已经批准，无需抵押。|合并债务，年利率{n}%起。'),
      advance: list('一位已故客户留下{m}，没有继承人。|寻找可靠的合作伙伴转移{m}，您可得{n}%。'),
      phishing: list('您的账户已被限制，请在{n}小时内验证身份：{u}|您的包裹因{m}费用被扣留：{u}'),
      seo: list('您的网站有{n}个错误影响排名。|{n}天内排到搜索首页。|代开各类发票，税点优惠{n}%，请来电。'),
      crypto: list('这个机器人把{m}变成了财富。|{n}天让您的比特币翻倍。'),
      dating: list('附近有{n}位单身女士在等您的消息。|看到你的资料就一直想你：{u}'),
      invoice: list('附件是逾期账单{m}，最后通知。|请确认新的银行账号。'),
    },
  },
  ja: {
    hello: list('{p}さん、こんにちは。|お世話になっております。|お客様各位'),
    bye: list('よろしくお願いします。{p}|またね、{p}|敬具'),
    nouns: list(
      '会議|レポート|台所|庭|車|学校|電車|写真|契約|特典|口座|名簿|チーム|企画|切符|請求書|銀行|医者|値段|荷物',
    ),
    days: list('月曜日|火曜日|水曜日|木曜日|金曜日|土曜日|日曜日'),
    talk: list(
      '{d}までに{w}の資料を送ってもらえますか。|{w}についてあと{n}つ質問があります。|子供たちがとても喜びました、ありがとう。|{d}なら空いていますが、どうですか。|{m}くらいかかったので、あとで返してください。|{d}の{n}時に変更できますか。|電話で話した{w}を添付します。|読んだら電話してください。|返事が遅くなってごめんなさい。|あとは{w}だけです。',
    ),
    trade: list(
      'ご注文{k}（{m}）ありがとうございます。|お荷物は{d}に届きます。|請求書{m}のお支払い期限は{n}日後です。|{d}まで{n}%お得です。|{c}にご登録いただいた方にお送りしています。|会員は{d}に{m}で更新されます。',
    ),
    notice: list(
      '認証コードは{k}です。{n}分間有効です。|アカウントに新しいログインがありました。|メールアドレスを確認してください：{u}|パスワードの再設定：{u}',
    ),
    lures: {
      pills: list('処方箋なしの錠剤、{n}%安く内緒でお届け。|{n}日で{n}キロやせる。'),
      loan: list('審査なしで{m}の融資が決まりました。|借金をまとめて年{n}%から。'),
      advance: list(
        '亡くなった顧客が{m}を残しましたが相続人がいません。|{m}を動かす信頼できる相手を探しています、{n}%差し上げます。',
      ),
      phishing: list(
        'お客様の口座は制限されました、{n}時間以内に本人確認を：{u}|荷物は{m}の未払いのため保留中です：{u}',
      ),
      seo: list('あなたのサイトには順位を下げる{n}個の誤りがあります。|{n}日で検索一位へ。'),
      crypto: list('このロボットは{m}を財産に変えました。|{n}日でビットコインを倍に。'),
      dating: list('近くの{n}人の女性が連絡を待っています。|プロフィールを見てからあなたのことばかり：{u}'),
      invoice: list('期限切れの請求書{m}を添付します、最終通知です。|新しい振込先をご確認ください。'),
    },
  },
  ar: {
    hello: list('مرحبا {p}،|صباح الخير،|عميلنا العزيز،'),
    bye: list('مع التحية، {p}|شكرا|إلى اللقاء، {p}'),
    nouns: list(
      'اجتماع|تقرير|مطبخ|حديقة|سيارة|مدرسة|قطار|صورة|عقد|عرض|حساب|قائمة|فريق|مشروع|تذكرة|فاتورة|بنك|طبيب|سعر|طرد',
    ),
    days: list('الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد'),
    talk: list(
      'هل يمكنك إرسال ملف {w} قبل يوم {d}؟|عندي {n} أسئلة عن {w}.|الأطفال أحبوا ذلك كثيرا، شكرا مرة أخرى.|نحن متفرغون يوم {d} إذا كان مناسبا لك.|كلف حوالي {m}، أعطني إياها لاحقا.|هل نؤجل إلى {d} الساعة {n}؟|أرفق ما تحدثنا عنه في الهاتف.|اتصل بي عندما تقرأ الرسالة.|آسف على التأخر في الرد.|بقي فقط {w}.',
    ),
    trade: list(
      'شكرا على طلبك {k} بقيمة {m}.|تصل الشحنة يوم {d}.|فاتورتك {m} تستحق خلال {n} أيام.|وفر {n}% حتى {d}.|تصلك هذه النشرة لأنك مشترك في {c}.|يتجدد اشتراكك يوم {d} مقابل {m}.',
    ),
    notice: list(
      'رمز التحقق هو {k} صالح لمدة {n} دقائق.|تسجيل دخول جديد إلى حسابك.|أكد بريدك: {u}|إعادة تعيين كلمة المرور: {u}',
    ),
    lures: {
      pills: list('حبوب بدون وصفة أرخص بنسبة {n}% وتوصيل سري.|اخسر {n} كيلو في {n} أيام.'),
      loan: list('تمت الموافقة على قرض {m} بدون ضمان.|اجمع ديونك بفائدة من {n}%.'),
      advance: list('عميل متوفى ترك {m} بلا ورثة.|أبحث عن شريك أمين لتحويل {m} ولك {n}%.'),
      phishing: list('تم تقييد حسابك، أكد هويتك خلال {n} ساعة: {u}|طردك محجوز بسبب رسوم {m}: {u}'),
      seo: list('موقعك فيه {n} أخطاء تضر بالترتيب.|الصفحة الأولى في البحث خلال {n} يوما.'),
      crypto: list('هذا الروبوت حول {m} إلى ثروة.|ضاعف البيتكوين في {n} أيام.'),
      dating: list('{n} نساء وحيدات بالقرب منك ينتظرن رسالة.|رأيت ملفك ولا أتوقف عن التفكير بك: {u}'),
      invoice: list('مرفق فاتورة متأخرة بقيمة {m}، إشعار أخير.|يرجى تأكيد الحساب البنكي الجديد.'),
    },
  },
};
