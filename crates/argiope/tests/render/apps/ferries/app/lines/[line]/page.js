import { LINES } from '../../../lines';

export const dynamicParams = false;
export const generateStaticParams = () => Object.keys(LINES).map((line) => ({ line }));

export default async function Line({ params }) {
  const { line } = await params;
  return (
    <>
      <h1>To the {line}</h1>
      <p>{LINES[line]}</p>
    </>
  );
}
