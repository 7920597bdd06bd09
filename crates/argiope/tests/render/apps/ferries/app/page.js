import Link from 'next/link';

export default function Home() {
  return (
    <>
      <h1>Ferries</h1>
      <p>
        Three boats cross the river where the bridge was before the flood. They belong to the town, and whoever lives in it
        crosses without paying. Visitors pay at the landing, in coins, since the ferryman has never had a purse for anything else.
      </p>
      <ul>
        {['north', 'south', 'island'].map((line) => (
          <li key={line}>
            <Link href={`/lines/${line}`}>To the {line}</Link>
          </li>
        ))}
      </ul>
    </>
  );
}
