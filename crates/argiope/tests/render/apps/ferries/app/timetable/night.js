'use client';
import Link from 'next/link';
import { useState } from 'react';

// What the server has not written, and a click brings.
export default function Night() {
  const [lines, setLines] = useState([]);
  const load = async () => {
    const answer = await fetch('/api/ferries', { method: 'POST', body: JSON.stringify({ after: '22:00' }) });
    setLines(await answer.json());
  };
  return (
    <>
      <button onClick={load}>Late boats</button>
      {lines.map((line) => (
        <p key={line}>
          <Link href={`/lines/${line}`}>The {line} boat</Link>
        </p>
      ))}
    </>
  );
}
